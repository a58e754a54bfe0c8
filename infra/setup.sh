#!/usr/bin/env bash
# Installs what SpeechManip needs on Debian 12; safe to repeat.
# setup.sh          what the product runs with
# setup.sh --test   also what its tests compare with
set -euo pipefail

need_go="1.26.8"
packages=(flite pocketsphinx pocketsphinx-en-us)
[ "${1:-}" = "--test" ] && packages+=(ffmpeg sox)

if ! command -v go >/dev/null; then
  echo "setup: Go is missing: install Go $need_go or newer (https://go.dev/dl) and put it on the PATH" >&2
  exit 1
fi
have_go="$(go env GOVERSION | sed 's/^go//; s/[^0-9.].*//')"
if [ "$(printf '%s\n%s\n' "$need_go" "$have_go" | sort -V | head -n 1)" != "$need_go" ]; then
  echo "setup: Go $have_go is too old: install Go $need_go or newer (https://go.dev/dl)" >&2
  exit 1
fi
echo "setup: Go $have_go"

missing=()
for package in "${packages[@]}"; do
  if dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed'; then
    echo "setup: $package is there"
  else
    missing+=("$package")
  fi
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "setup: missing: ${missing[*]}; run this as root on Debian, then try again:" >&2
  echo "apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
echo "setup: installing ${missing[*]}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 15 "$log" >&2
  echo "setup: apt-get failed" >&2
  exit 1
fi
echo "setup: done"
