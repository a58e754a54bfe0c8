#!/usr/bin/env bash
# Installs what SpeechManip needs on Debian 12; safe to repeat.
# setup.sh          what the product runs with
# setup.sh --test   also what its tests compare with
set -euo pipefail
cd "$(dirname "$0")/.."

need_go=1.26.8
# package=what it brings: a program, or a file.
needs=(
  flite=flite
  pocketsphinx=pocketsphinx_continuous
  pocketsphinx-en-us=/usr/share/pocketsphinx/model/en-us/en-us/mdef
)
tests=(ffmpeg=ffmpeg prometheus=promtool praat=praat sox=sox)

case "${1:-}" in
  "") ;;
  --test) needs+=("${tests[@]}") ;;
  *)
    echo "setup: unknown argument $1: use --test or nothing" >&2
    exit 2
    ;;
esac

go_hint="install Go $need_go or newer (https://go.dev/dl: unpack to /usr/local, add /usr/local/go/bin to PATH)"
if ! command -v go >/dev/null; then
  echo "setup: Go is missing: $go_hint" >&2
  exit 1
fi
# Here Go may fetch the version that go.mod asks for; where it may not, it refuses
# to answer, and tells its own version only elsewhere.
have_go="$(go env GOVERSION 2>/dev/null || (cd / && go env GOVERSION))"
have_go="$(sed 's/^[^0-9]*//; s/[^0-9.].*//' <<<"$have_go")"
if [ "$(printf '%s\n' "$need_go" "$have_go" | sort -V | head -n 1)" != "$need_go" ]; then
  echo "setup: Go $have_go is too old: $go_hint" >&2
  exit 1
fi
echo "setup: Go $have_go is there"

missing=()
for need in "${needs[@]}"; do
  package="${need%%=*}" brings="${need#*=}"
  if command -v "$brings" >/dev/null || [ -f "$brings" ]; then
    echo "setup: $package is there"
  else
    missing+=("$package")
  fi
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo -n)
fi
install=(apt-get install -y --no-install-recommends "${missing[@]}")
if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
  echo "setup: missing: ${missing[*]}. Run this as root on Debian, then try again:" >&2
  echo "apt-get update && ${install[*]}" >&2
  exit 1
fi
echo "setup: installing ${missing[*]}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}"; } </dev/null >"$log" 2>&1; then
  tail -n 15 "$log" >&2
  echo "setup: apt-get failed; what it said is above" >&2
  exit 1
fi
echo "setup: installed"
