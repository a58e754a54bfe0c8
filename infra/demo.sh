#!/usr/bin/env bash
# demo.sh       the whole pipeline on the built-in sample, then stops everything
# demo.sh dev   keeps the dev stack and a worker up until Ctrl-C
# It takes the binaries from ../bin (make build) and keeps its data in ../.devstack;
# devstack's own variables (DEVSTACK_DATA, DEVSTACK_TEMPORAL_ADDR, ...) work here too.
set -euo pipefail
cd "$(dirname "$0")/.."
mode="${1:-demo}"
data="${DEVSTACK_DATA:-.devstack}"
ready="$data/ready.json"
pids=()

# Twice the drain that the worker gets below, and enough for the stack.
stop_seconds=20

stop() {
  trap '' INT TERM HUP
  trap - EXIT
  # In reverse: the worker drains into a stack that is still there.
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill -TERM "${pids[i]}" 2>/dev/null || continue
    for ((tries = stop_seconds * 10; tries > 0; tries--)); do
      kill -0 "${pids[i]}" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "${pids[i]}" 2>/dev/null || true
  done
}
# shellcheck disable=SC2317 # the traps call it
interrupted() {
  stop
  if [ "$mode" = demo ]; then
    echo "demo: stopped; \`make dev\` goes on with an evaluation that was not finished" >&2
  fi
  exit "$1"
}
trap stop EXIT
trap 'interrupted 130' INT
trap 'interrupted 143' TERM HUP

# waitfor PID LOG WHAT CONDITION... waits for the condition, and fails with the end
# of the log when the process ends before.
waitfor() {
  local pid="$1" log="$2" what="$3" tries
  shift 3
  for ((tries = 600; tries > 0; tries--)); do
    if "$@"; then return 0; fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.2
  done
  echo "demo: $what did not start; the end of $log:" >&2
  tail -n 5 "$log" >&2
  return 1
}

mkdir -p "$data"
rm -f "$ready"
# A session of its own: Ctrl-C reaches this script only, which stops all in order.
setsid bin/devstack --data "$data" --ready-file "$ready" </dev/null >"$data/devstack.log" 2>&1 &
pids+=($!)
if ! waitfor "$!" "$data/devstack.log" "the dev stack" test -s "$ready"; then
  if grep -q "in use" "$data/devstack.log"; then
    echo "demo: to let it choose free ports:" >&2
    echo "DEVSTACK_TEMPORAL_ADDR=127.0.0.1:0 DEVSTACK_UI_ADDR=127.0.0.1:0 DEVSTACK_S3_ADDR=127.0.0.1:0 make $mode" >&2
  fi
  exit 1
fi
grep '^devstack ready' "$data/devstack.log"

value() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$ready"; }
environment=(
  "TEMPORAL_ADDRESS=$(value temporal)"
  "TEMPORAL_NAMESPACE=$(value namespace)"
  "SPEECHMANIP_S3_ENDPOINT=$(value s3)"
  "SPEECHMANIP_S3_ACCESS_KEY=${DEVSTACK_S3_ACCESS_KEY:-devstack}"
  "SPEECHMANIP_S3_SECRET_KEY=${DEVSTACK_S3_SECRET_KEY:-devstack-secret}"
  "SPEECHMANIP_UI=$(value ui)"
)
export "${environment[@]}"
# Whoever works with another Temporal has its profile and key here; not for this one.
unset TEMPORAL_API_KEY TEMPORAL_PROFILE
export TEMPORAL_CONFIG_FILE=/dev/null
# Free engines may be cut off; a chat server's answer may be paid.
[[ -n ${SPEECHMANIP_CHAT_URL:-} ]] || export SPEECHMANIP_DRAIN="${SPEECHMANIP_DRAIN:-10s}"

bin/starter setup
setsid bin/worker --roles all </dev/null >"$data/worker.log" 2>&1 &
pids+=($!)
waitfor "$!" "$data/worker.log" "the worker" grep -q '^worker ready' "$data/worker.log"
grep '^worker ready' "$data/worker.log"

if [ "$mode" = dev ]; then
  cat <<EOT

The dev stack and a worker are up. Ctrl-C stops both; the data stays in $data.
In another terminal, here:
  export ${environment[*]}
  bin/starter evaluate                                        the built-in sample
  bin/starter evaluate --dataset FILE.csv --limit 20          your own dialogues
  bin/starter baseline train --dataset FILE.csv --out MODEL   a detector of your own
  bin/starter list
Web UI: $SPEECHMANIP_UI
Logs: $data/worker.log, $data/devstack.log
EOT
  wait -n "${pids[@]}" || true
  echo "dev: the dev stack or the worker ended; the ends of their logs:" >&2
  tail -n 5 "$data/devstack.log" "$data/worker.log" >&2
  exit 1
fi

# In the background, so that a signal to this script need not wait for its end.
bin/starter evaluate &
pids+=($!)
code=0
wait "$!" || code=$?
if [ "$code" -ne 0 ]; then
  echo "demo: the evaluation failed; the end of the worker's log ($data/worker.log):" >&2
  tail -n 15 "$data/worker.log" >&2
fi
stop
echo "demo: all that it started is stopped; \`make dev\` brings it up again, with this evaluation"
exit "$code"
