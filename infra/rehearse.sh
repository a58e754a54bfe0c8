#!/usr/bin/env bash
# rehearse.sh [FLAG...] rehearses a deployment on one machine: a Temporal server on PostgreSQL,
# an S3 server, and two workers a role (one for audio), each a process. It evaluates
# the built-in sample undisturbed, then again from nothing with one worker of each
# role killed and replaced, and compares what the two found.
# Flags go to both evaluations: --limit 8 makes it shorter, and what needs no recogniser
# makes it quick: --detector baseline-duration --quality off.
# It takes the binaries from ../bin (make build) and the servers from the module in
# rehearse/; all ports are free ones, all data lies in a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "rehearse: $*" >&2
  exit 1
}
step() { echo "rehearse: $*"; }

# The server's programs are not on the PATH on Debian.
# shellcheck disable=SC2012 # Debian's own names
postgres="$(dirname "$(readlink -f "$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -n 1)")")"
[ -x "$postgres/initdb" ] || fail "PostgreSQL is missing: apt-get install postgresql curl"
command -v curl >/dev/null || fail "curl is missing: apt-get install curl"
as_postgres=()
if [ "$(id -u)" -eq 0 ]; then
  as_postgres=(setpriv --reuid postgres --regid postgres --init-groups) # it refuses to run as root
fi

work="$(mktemp -d)"
declare -A pids=() # by name
log() { echo "$work/$1.log"; }

# end SIGNAL NAME ends a process and waits for it; by force after 20 s.
end() {
  local pid="${pids[$2]:-}" tries
  [ -n "$pid" ] || return 0
  unset "pids[$2]"
  { # the shell would say of each that it was killed
    kill "-$1" "$pid" || return 0
    for ((tries = 200; tries > 0; tries--)); do
      kill -0 "$pid" || break
      sleep 0.1
    done
    kill -KILL "$pid" || true
    wait "$pid" || true
  } 2>/dev/null
}
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
  local code=$? name
  trap '' INT TERM HUP
  trap - EXIT
  if [ "$code" -ne 0 ]; then
    for name in "${!pids[@]}"; do
      echo "--- the end of $name's log" >&2
      tail -n 4 "$(log "$name")" >&2
    done
  fi
  for name in "${!pids[@]}"; do
    case "$name" in temporal | s3 | postgresql) ;; *) end TERM "$name" ;; esac
  done
  end TERM temporal
  end TERM s3
  end INT postgresql # without waiting for its clients
  rm -rf "$work"
  exit "$code"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# run NAME COMMAND... starts a process in a session of its own: Ctrl-C reaches this
# script only, which stops all in order.
run() {
  local name="$1"
  shift
  setsid "$@" </dev/null >>"$(log "$name")" 2>&1 &
  pids[$name]=$!
}
# waitfor NAME SECONDS COMMAND... waits until the command succeeds.
waitfor() {
  local name="$1" tries
  for ((tries = $2 * 5; tries > 0; tries--)); do
    if "${@:3}" >"$work/waitfor.out" 2>&1; then return 0; fi
    if [ -n "${pids[$name]:-}" ] && ! kill -0 "${pids[$name]}" 2>/dev/null; then break; fi
    sleep 0.2
  done
  tail -n 3 "$work/waitfor.out" >&2
  fail "$name: not in time, or it ended"
}
# ports that nobody listens on, below those that the system hands out itself.
next_port=$((20000 + RANDOM % 8000))
port() {
  while (exec 3<>"/dev/tcp/127.0.0.1/$next_port") 2>/dev/null; do next_port=$((next_port + 1)); done
  printf -v "$1" %d "$next_port"
  next_port=$((next_port + 1))
}
secret() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

step "builds the servers (the first time takes minutes)"
go -C infra/rehearse build -ldflags='-s -w' -o "$work/servers/" tool

step "PostgreSQL"
for name in database frontend http frontend_member matching matching_member history history_member system system_member objects; do
  port "${name}_port"
done
# shellcheck disable=SC2154 # port sets them
export SQL_PLUGIN=postgres12 SQL_HOST=127.0.0.1 SQL_PORT="$database_port" SQL_USER=temporal
SQL_PASSWORD="$(secret)"
export SQL_PASSWORD
mkdir "$work/postgresql"
printf '%s' "$SQL_PASSWORD" >"$work/postgresql/password"
chmod 755 "$work" # PostgreSQL's user must reach its folder; the data are its alone
if [ "$(id -u)" -eq 0 ]; then chown -R postgres "$work/postgresql"; fi
(cd / && "${as_postgres[@]}" "$postgres/initdb" --pgdata "$work/postgresql/data" --username temporal --auth scram-sha-256 --pwfile "$work/postgresql/password") >"$(log initdb)" ||
  fail "initdb failed: $(tail -n 3 "$(log initdb)")"
run postgresql "${as_postgres[@]}" "$postgres/postgres" -D "$work/postgresql/data" -p "$database_port" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$work/postgresql"
waitfor postgresql 30 "$work/servers/sql" --database temporal create
"$work/servers/sql" --database temporal_visibility create >"$(log schema)"
for database in temporal visibility; do
  export SQL_DATABASE="temporal${database#temporal}"
  [ "$database" = temporal ] || export SQL_DATABASE=temporal_visibility
  "$work/servers/sql" setup-schema -v 0.0 >>"$(log schema)" 2>&1
  "$work/servers/sql" update-schema --schema-name "postgresql/v12/$database" >>"$(log schema)" 2>&1 || fail "schema: $(tail -n 2 "$(log schema)")"
done

step "Temporal on it, and an S3 server"
sql_store() {
  cat <<EOT
      sql: {pluginName: postgres12, databaseName: $1, connectAddr: "127.0.0.1:$database_port", connectProtocol: tcp, user: temporal, password: $SQL_PASSWORD, maxConns: 20, maxIdleConns: 20, maxConnLifetime: 1h}
EOT
}
service() { echo "  $1: {rpc: {grpcPort: $2, membershipPort: $3, bindOnLocalHost: true$4}}"; }
cat >"$work/temporal.yaml" <<EOT
log: {stdout: true, level: warn}
persistence:
  defaultStore: default
  visibilityStore: visibility
  numHistoryShards: 4
  datastores:
    default:
$(sql_store temporal)
    visibility:
$(sql_store temporal_visibility)
global:
  membership: {maxJoinDuration: 30s, broadcastAddress: 127.0.0.1}
services:
$(service frontend "$frontend_port" "$frontend_member_port" ", httpPort: $http_port")
$(service matching "$matching_port" "$matching_member_port" "")
$(service history "$history_port" "$history_member_port" "")
$(service worker "$system_port" "$system_member_port" "")
clusterMetadata:
  masterClusterName: active
  currentClusterName: active
  failoverVersionIncrement: 10
  clusterInformation:
    active: {enabled: true, initialFailoverVersion: 1, rpcName: frontend, rpcAddress: "127.0.0.1:$frontend_port"}
publicClient: {hostPort: "127.0.0.1:$frontend_port"}
dynamicConfigClient: {filepath: $work/dynamicconfig.yaml, pollInterval: 60s}
EOT
# The deployment's own settings; and a search attribute can be used at once.
cat infra/compose/dynamicconfig.yaml - >"$work/dynamicconfig.yaml" <<'EOT'
system.forceSearchAttributesCacheRefreshOnRead:
  - value: true
EOT
run temporal "$work/servers/server" --config-file "$work/temporal.yaml" --allow-no-auth start
mkdir "$work/objects"
SPEECHMANIP_S3_SECRET_KEY="$(secret)"
export SPEECHMANIP_S3_SECRET_KEY SPEECHMANIP_S3_ACCESS_KEY=rehearse SPEECHMANIP_S3_ENDPOINT="http://127.0.0.1:$objects_port"
run s3 env ROOT_ACCESS_KEY_ID="$SPEECHMANIP_S3_ACCESS_KEY" ROOT_SECRET_ACCESS_KEY="$SPEECHMANIP_S3_SECRET_KEY" \
  "$work/servers/versitygw" --port "127.0.0.1:$objects_port" posix "$work/objects"
registered() {
  local answer
  answer="$(curl -sS --data '{"namespace": "speechmanip", "workflowExecutionRetentionPeriod": "86400s"}' "http://127.0.0.1:$http_port/api/v1/namespaces")"
  case "$answer" in "{}" | *"already exists"*) ;; *) echo "$answer" && return 1 ;; esac
}
waitfor temporal 90 registered

# Whoever works with another Temporal has its profile and key here; not for this one.
unset TEMPORAL_API_KEY TEMPORAL_PROFILE
export TEMPORAL_CONFIG_FILE=/dev/null TEMPORAL_ADDRESS="127.0.0.1:$frontend_port" TEMPORAL_NAMESPACE=speechmanip
export SPEECHMANIP_LOG_FORMAT=json SPEECHMANIP_DRAIN=10s

# worker NAME FLAG... starts a worker and waits until it is ready.
worker() {
  run "$1" bin/worker "${@:2}"
  waitfor "$1" 30 grep -q '^worker ready' "$(log "$1")"
}
# An evaluation in a bucket of its own finds nothing in the store.
bucket() {
  export SPEECHMANIP_S3_BUCKET="$1"
  waitfor "temporal" 60 bin/starter setup # the namespace must be known everywhere
}
evaluate=(bin/starter evaluate --chunk-size 7 --dialogues 3 "$@")

step "the sample, undisturbed"
bucket undisturbed
worker all --roles all
"${evaluate[@]}" --id undisturbed --out "$work/reports" >"$(log undisturbed)" 2>&1 || fail "the undisturbed evaluation: $(tail -n 5 "$(log undisturbed)")"
end TERM all

step "the sample, with one worker of each role killed and replaced"
bucket rehearsal
start() { # NAME ROLE
  worker "$1" --roles "$2"
}
for name in workflows-1 workflows-2 speech-1 speech-2 audio-1 detect-1 detect-2; do start "$name" "${name%-*}"; done
run evaluation "${evaluate[@]}" --id rehearsed --out "$work/reports"
recorded() { # N dialogues at least
  local count
  count="$(bin/starter status rehearsed --json 2>/dev/null | grep -o '"done":[0-9]*' | head -n 1 | cut -d : -f 2)"
  [ "${count:-0}" -ge "$1" ]
}
at=1
for role in speech audio detect workflows; do
  waitfor evaluation 300 recorded "$at"
  end KILL "$role-1"
  step "$role-1 is killed with at least $at dialogues recorded"
  start "$role-3" "$role"
  at=$((at + 2))
done
kill -0 "${pids[evaluation]}" 2>/dev/null || fail "the evaluation ended before the last worker was replaced"
pid="${pids[evaluation]}"
if ! wait "$pid"; then fail "the evaluation: $(tail -n 5 "$(log evaluation)")"; fi
unset "pids[evaluation]"

# The last three columns of dialogues.csv count calls: those that died with a worker are
# made again, or were stored and are found.
found() {
  if [ "$2" = dialogues.csv ]; then sed -E 's/(,[^,]*){3}$//' "$work/reports/$1/$2"; else cat "$work/reports/$1/$2"; fi
}
for file in dialogues.csv passes.csv; do
  cmp <(found undisturbed "$file") <(found rehearsed "$file" | sed 's/rehearsed/undisturbed/g') ||
    fail "$file differs: $(diff "$work/reports/undisturbed/$file" "$work/reports/rehearsed/$file" | head -n 6)"
done
rows=$(($(wc -l <"$work/reports/rehearsed/dialogues.csv") - 1))
step "passed: both evaluations found the same in $rows dialogues"
