#!/usr/bin/env bash
# vulncheck.sh FOLDER looks for known vulnerabilities in the programs of a folder: in
# what is linked into them, so that what they leave out doesn't count. The database is
# pinned, so that a new entry breaks nothing by itself; VULNDB names another, as in
#   VULNDB=https://vuln.go.dev infra/vulncheck.sh bin
set -euo pipefail
cd "$(dirname "$0")/.."

govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0
database=golang.org/x/vulndb@v0.0.0-20261105234957-e22db6528018

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
if [ -z "${VULNDB:-}" ]; then
  # Outside of the module: a dependency of this check, not of the product.
  folder="$(cd "$work" && go mod download -json "$database" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')"
  VULNDB="file://$folder/data/osv"
fi
for program in starter worker devstack; do
  go run "$govulncheck" -mode binary -format json -db "$VULNDB" "$1/$program"
done >"$work/found.json"
go run ./infra/vulncheck infra/vulncheck/accepted.txt <"$work/found.json"
