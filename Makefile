# SpeechManip: `make demo` shows the whole pipeline, `make test` tests it.
export GOWORK := off
export CGO_ENABLED := 0
# The same flag everywhere, so that what the build has compiled serves the linters and
# the tests too: the dev stack alone takes minutes.
export GOFLAGS := -trimpath $(filter-out -trimpath,$(shell go env GOFLAGS 2>/dev/null))

STATICCHECK   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
WORKFLOWCHECK := go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0
AXE           := 4.14.1
BIN           := $(CURDIR)/bin
STACK         := infra/devstack
STACK_SOURCES := $(filter-out %_test.go,$(wildcard $(STACK)/*.go)) $(STACK)/go.mod $(STACK)/go.sum

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup setup-test build demo dev test test-fast unit race integration test-llama test-chaos test-infra test-monitoring test-browser test-load lint vulncheck rehearse bench bench-scale clean clean-data

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## install what is missing (Debian, root)
	@infra/setup.sh

setup-test:
	@infra/setup.sh --test

build: bin/devstack ## build bin/starter, bin/worker and bin/devstack
	go build -o bin/ ./starter ./worker

bin/devstack: $(STACK_SOURCES)
	@echo "building the dev stack: the first time takes minutes"
	go -C $(STACK) build -ldflags=-w -o "$(BIN)/devstack" .

demo: setup build ## the main job on the built-in sample, on one machine
	@infra/demo.sh

dev: setup build ## keep the dev stack and a worker up
	@infra/demo.sh dev

test: setup-test build lint vulncheck unit race integration ## everything: lint, known vulnerabilities, unit tests, the real dev stack

test-fast: unit ## unit tests only

unit:
	go test ./...

# The packages that run goroutines, where there is a C compiler: the race detector needs one.
race:
	@if command -v gcc >/dev/null; then set -x; CGO_ENABLED=1 go test -race ./activities ./internal/objectstore/mem ./worker; \
	else echo "race: no gcc, so no race detector: skipped"; fi

integration: build ## tests against the real dev stack, engines and binaries
	SPEECHMANIP_BIN="$(BIN)" go test -count=1 -tags integration -timeout 30m -p 1 -parallel 5 \
		$$(grep -rl --include='*_test.go' '^//go:build integration' activities internal starter worker workflows | xargs -n 1 dirname | sort -u | sed 's|^|./|')
	go -C $(STACK) test -count=1 ./...

test-llama: ## the chat detector against the llama-server at LLAMA_SERVER_URL
	@test -n "$$LLAMA_SERVER_URL" || { echo "test-llama: set LLAMA_SERVER_URL to a running llama-server, e.g. http://127.0.0.1:8089 (docs/providers.md)" >&2; exit 2; }
	@$(MAKE) build
	go test -count=1 -v -timeout 60m -run '^TestLive' ./internal/detect/chat
	SPEECHMANIP_BIN="$(BIN)" go test -count=1 -v -timeout 60m -tags integration -run '^TestLlama$$' ./internal/e2e

lint: ## gofmt, vet, staticcheck, workflowcheck
	@files="$$(gofmt -l .)"; test -z "$$files" || { echo "lint: run gofmt -w on these:" $$files >&2; exit 1; }
	go vet -tags integration ./...
	go -C $(STACK) vet ./...
	go -C infra/browsertest vet ./...
	go run $(STATICCHECK) -tags integration ./...
	cd $(STACK) && go run $(STATICCHECK) ./...
	go run $(WORKFLOWCHECK) ./workflows/...

vulncheck: build ## known vulnerabilities in what the programs are linked from
	@infra/vulncheck.sh "$(BIN)"

test-chaos: setup-test build ## 200 dialogues while workers and servers are killed and connections break
	SPEECHMANIP_BIN="$(BIN)" SPEECHMANIP_CHAOS=1 go test -count=1 -v -timeout 60m -tags integration -run '^TestChaos$$' ./internal/e2e

test-monitoring: setup-test build ## dashboards, alert rules, traces and logs against a real Prometheus
	promtool check config infra/prometheus/prometheus.yaml
	promtool test rules infra/prometheus/rules_test.yaml
	SPEECHMANIP_BIN="$(BIN)" SPEECHMANIP_MONITORING=1 go test -count=1 -v -tags integration -run '^TestMonitoring$$' ./internal/e2e

test-infra: setup build ## compose, Kubernetes and Terraform files, as far as they can be checked without a cluster
	@infra/test-infra.sh

# axe-core, which judges how the page can be used, is fetched and not kept: its
# licence is not ours. SCREENSHOTS=folder has the pages' pictures written there.
test-browser: setup build ## the report's and the annotation pages in a real Chromium (needs chromium and npm)
	@pages="$$(mktemp -d)"; trap 'touch "$$pages/end"; wait; rm -rf "$$pages"' EXIT; set -e; \
	cd infra/browsertest; npm install --no-save --no-audit --no-fund --silent axe-core@$(AXE); cd ../..; \
	REPORT_PAGES="$$pages" go test -count=1 -run '^TestWritePages$$' ./internal/report; \
	mkdir "$$pages/bundle"; \
	REPORT_BUNDLE="$$pages/bundle" SPEECHMANIP_BIN="$(BIN)" go test -count=1 -tags integration -run '^TestBundle$$' ./internal/e2e; \
	ANNOTATION_PAGE="$$pages" go test -count=1 -run '^TestServe$$' ./internal/annotate & \
	REPORT_PAGES="$$pages" REPORT_BUNDLE="$$pages/bundle/bundled" ANNOTATION_PAGE="$$pages" go -C infra/browsertest test -count=1 -v ./...

# On a machine that does nothing else.
test-load: setup-test build ## fifty annotators at the annotation page at once: how long a judgment takes to be saved
	SPEECHMANIP_BIN="$(BIN)" SPEECHMANIP_LOAD=1 go test -count=1 -v -tags integration -run '^TestAnnotationLoad$$' ./internal/e2e

rehearse: setup build ## Temporal on PostgreSQL, seven workers, one of each role killed and replaced
	@infra/rehearse.sh

bench: bench-scale ## composition against ffmpeg, recognition and classification of a clip, and bench-scale
	go test -run '^$$' -bench Compose ./internal/audio
	go test -run '^$$' -bench 'Recognize|Classify' ./internal/recognize/... ./internal/detect/baseline

# On a machine that does nothing else. SPEECHMANIP_SCALE_DIALOGUES=20000 is the large one.
bench-scale: build ## orchestration: efficiency, ceiling, sizes and memory, on simulated providers
	SPEECHMANIP_BIN="$(BIN)" SPEECHMANIP_SCALE=1 go test -count=1 -v -timeout 6h -tags integration -run '^TestScale' ./internal/e2e

clean: ## remove what was built; keeps the data in .devstack and reports
	rm -rf bin

clean-data: ## remove the dev stack's data and the reports
	rm -rf .devstack reports
