#!/usr/bin/env bash
# demo.sh       the whole pipeline on the built-in sample, then stops everything
# demo.sh dev   keeps the dev stack and a worker up until Ctrl-C
# The binaries are in ../bin (make build).
set -euo pipefail
cd "$(dirname "$0")/.."
mode="${1:-demo}"
data="${DEVSTACK_DATA:-.devstack}"
mkdir -p "$data"
ready="$data/ready.json"
pids=()

stop() {
  trap - EXIT INT TERM
  # The worker first: it drains into a stack that is still there.
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill -TERM "${pids[i]}" 2>/dev/null || true
    wait "${pids[i]}" 2>/dev/null || true
  done
}
trap stop EXIT
trap 'stop; exit 130' INT TERM

waitfor() { # what, pid, log, condition...
  local what="$1" pid="$2" log="$3"
  shift 3
  for _ in $(seq 1 300); do
    "$@" && return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.2
  done
  echo "demo: $what did not start; the end of its log ($log):" >&2
  tail -n 5 "$log" >&2
  return 1
}

rm -f "$ready"
# A process group of its own: Ctrl-C reaches this script, which stops all in order.
setsid bin/devstack --data "$data" --ready-file "$ready" >"$data/devstack.log" 2>&1 &
pids+=($!)
waitfor "the dev stack" "$!" "$data/devstack.log" test -s "$ready"
tail -n 1 "$data/devstack.log"

value() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$ready"; }
TEMPORAL_ADDRESS="$(value temporal)"
SPEECHMANIP_S3_ENDPOINT="$(value s3)"
SPEECHMANIP_UI="$(value ui)"
export TEMPORAL_ADDRESS SPEECHMANIP_S3_ENDPOINT SPEECHMANIP_UI
export SPEECHMANIP_S3_ACCESS_KEY="${DEVSTACK_S3_ACCESS_KEY:-devstack}"
export SPEECHMANIP_S3_SECRET_KEY="${DEVSTACK_S3_SECRET_KEY:-devstack-secret}"

bin/starter setup
setsid bin/worker --roles all >"$data/worker.log" 2>&1 &
pids+=($!)
waitfor "the worker" "$!" "$data/worker.log" grep -q '^worker ready' "$data/worker.log"
grep '^worker ready' "$data/worker.log" | tail -n 1

if [ "$mode" = dev ]; then
  cat <<EOF

The stack and a worker are up; Ctrl-C stops both, the data stays in $data.
In another terminal:
  export TEMPORAL_ADDRESS=$TEMPORAL_ADDRESS SPEECHMANIP_S3_ENDPOINT=$SPEECHMANIP_S3_ENDPOINT SPEECHMANIP_UI=$SPEECHMANIP_UI   # only where ports differ from the defaults
  bin/starter evaluate                                        the built-in sample
  bin/starter evaluate --dataset FILE.csv --limit 20          your own dialogues
  bin/starter baseline train --dataset FILE.csv --out MODEL   a detector of your own
  bin/starter list
Web UI: $SPEECHMANIP_UI      worker's log: $data/worker.log
EOF
  wait "${pids[@]}"
  exit
fi

code=0
bin/starter evaluate || code=$?
if [ "$code" -ne 0 ]; then
  echo "demo: the evaluation failed; the end of the worker's log ($data/worker.log):" >&2
  tail -n 15 "$data/worker.log" >&2
fi
exit "$code"
