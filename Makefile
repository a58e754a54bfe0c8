# SpeechManip: `make demo` shows the whole pipeline, `make test` tests it.
export GOWORK := off
export CGO_ENABLED ?= 0

STATICCHECK   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
WORKFLOWCHECK := go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0
BIN           := $(abspath bin)
STACK         := infra/devstack

.PHONY: help setup build demo dev test test-fast unit integration lint bench clean clean-data

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## install what is missing (Debian, root)
	@infra/setup.sh

build: bin/devstack ## build bin/starter, bin/worker and bin/devstack
	go build -trimpath -o bin/ ./starter ./worker

bin/devstack: $(wildcard $(STACK)/*.go) $(STACK)/go.mod
	@echo "building the dev stack (Temporal, its Web UI and S3 in one program): the first time takes minutes"
	go -C $(STACK) build -trimpath -ldflags='-s -w' -o $(BIN)/devstack .

demo: setup build ## the main job on the built-in sample, on one machine
	@infra/demo.sh

dev: setup build ## keep the dev stack and a worker up
	@infra/demo.sh dev

test: ## everything: lint, unit tests, the real dev stack
	@infra/setup.sh --test
	@$(MAKE) --no-print-directory build lint unit integration

test-fast: unit ## unit tests only

unit:
	go test ./...

integration: build ## tests against the real dev stack, engines and binaries
	SPEECHMANIP_BIN=$(BIN) go test -count=1 -tags integration -timeout 20m -p 1 ./internal/devstacktest/... ./internal/objectstore/... ./internal/e2e/...
	go -C $(STACK) test -count=1 ./...

lint: ## gofmt, vet, staticcheck, workflowcheck
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo "lint: run gofmt -w on these"; exit 1; }
	go vet -tags integration ./...
	go -C $(STACK) vet ./...
	go run $(STATICCHECK) -tags integration ./...
	cd $(STACK) && go run $(STATICCHECK) ./...
	go run $(WORKFLOWCHECK) ./workflows/...

bench: ## composition against ffmpeg, recognition and classification of a clip
	go test -run '^$$' -bench Compose ./internal/audio
	go test -run '^$$' -bench 'Recognize|Classify' ./internal/recognize/... ./internal/detect/baseline

clean: ## remove what was built; keeps .devstack and reports
	rm -rf bin

clean-data: ## remove the dev stack's data and the reports
	rm -rf .devstack reports
