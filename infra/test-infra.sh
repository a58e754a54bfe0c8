#!/usr/bin/env bash
# test-infra.sh checks what deploys SpeechManip, without a cluster, a container
# engine or an account: docs/deploy.md says what that leaves open.
# It takes the binaries from ../bin (make build) and its tools as Go modules.
set -euo pipefail
cd "$(dirname "$0")/.."
export SPEECHMANIP_BIN="${SPEECHMANIP_BIN:-$PWD/bin}"

kustomize=sigs.k8s.io/kustomize/kustomize/v5@v5.8.1
validate=sigs.k8s.io/kubectl-validate@v0.0.4
kubernetes=1.30 # the newest whose schemas it holds
keda=github.com/kedacore/keda/v2@v2.21.0

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
step() { echo "test-infra: $*"; }
left=()

step "shell scripts parse"
for script in infra/*.sh; do bash -n "$script"; done
for script in infra/compose/*.sh; do sh -n "$script"; done

step "compose, Kubernetes and Terraform files against each other and the product"
go -C infra/check vet -tags integration ./...
go -C infra/check test -count=1 ./...

step "kustomize renders the overlays"
mkdir "$work/rendered" "$work/crds"
for overlay in infra/k8s/overlays/*/; do
  go run "$kustomize" build "$overlay" >"$work/rendered/$(basename "$overlay").yaml"
done

step "the result against the schemas of Kubernetes $kubernetes and KEDA's own"
# Outside of the module: a dependency of this check, not of the product.
folder="$(cd "$work" && go mod download -json "$keda" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')"
cp "$folder"/config/crd/bases/keda.sh_*.yaml "$work/crds/"
go run "$validate" --version "$kubernetes" --local-crds "$work/crds" "$work/rendered"

step "Terraform"
terraform="$(command -v tofu || command -v terraform || true)"
if [ -z "$terraform" ]; then
  left+=("tofu validate: neither tofu nor terraform is installed")
else
  "$terraform" fmt -check -diff infra/terraform
  cp infra/terraform/*.tf "$work/"
  if "$terraform" -chdir="$work" init -backend=false -input=false >"$work/init.log" 2>&1; then
    "$terraform" -chdir="$work" validate
  else
    left+=("$(basename "$terraform") validate: the AWS provider can't be fetched here")
  fi
fi

rules=(infra/prometheus/*.rules.yaml)
if [ -f "${rules[0]}" ]; then
  step "Prometheus rules"
  if command -v promtool >/dev/null; then
    promtool check rules "${rules[@]}"
    promtool check config infra/prometheus/prometheus.yaml
    promtool test rules infra/prometheus/rules_test.yaml
  else
    left+=("promtool: not installed (Debian: prometheus)")
  fi
fi

step "an evaluation keeps to the store's policies"
go -C infra/check test -count=1 -tags integration -run '^TestAccess$' ./...

left+=("the images: no container engine" "the deployment itself: no cluster, no AWS account")
for what in "${left[@]}"; do step "not run: $what"; done
step "passed"
