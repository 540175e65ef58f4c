# Everything runs in .venv and .local; `make setup` needs Python 3.11+, git and a network, no more.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PY := .venv/bin/python
STAMP := .venv/.installed
STAGE ?= dev
EVERY_SURFACE := bedrock,gateway
CDK = $(PY) -m toolgate.local.aws
UP = $(PY) -m toolgate.local up $(if $(PORT),--port $(PORT))

# The first of these that runs and is new enough; a pyenv shim may exist and still not run.
CANDIDATES := python3 python3.13 python3.12 python3.11 python3.14
FIND_PYTHON = for each in $(CANDIDATES); do \
	  if "$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	  then echo "$$each"; exit 0; fi; \
	done

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) \
	  | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

.PHONY: setup
setup: $(STAMP) ## Create .venv and install what the local cloud needs

$(STAMP): requirements.txt functions/requirements.txt pyproject.toml package-lock.json \
          toolgate/local/setup_venv.py toolgate/local/ministack-requirements.txt
	@python="$${PYTHON:-$$($(FIND_PYTHON))}"; \
	if [ -z "$$python" ]; then \
	  echo "Toolgate needs Python 3.11 or newer; none of $(CANDIDATES) is. Install one, or: make setup PYTHON=/path/to/python" >&2; \
	  exit 1; \
	fi; \
	"$$python" toolgate/local/setup_venv.py
	@$(PY) -m toolgate.local install
	@touch $@

.PHONY: demo
demo: $(STAMP) ## Bring up the local cloud and show a tool being retried, raced and killed
	@$(if $(PORT),$(UP) >/dev/null)
	@$(PY) -m toolgate demo

.PHONY: lint
lint: $(STAMP) ## Check style, types, and that every contract is as published
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m toolgate check

.PHONY: test
test: lint ## Lint, then every test but the long ones; the local cloud's come last (PORT)
	$(PY) -m pytest -q -m "not local and not long"
	$(UP)
	$(PY) -m pytest -q -m "local and not long"

.PHONY: test-long
test-long: $(STAMP) ## The long tests, on the local cloud (PORT)
	$(PY) -m uv pip install -q -p $(PY) -r requirements-extras.txt
	$(UP)
	$(PY) -m pytest -q -m long

.PHONY: faults
faults: $(STAMP) ## Fail every AWS call of every mutating tool in every way, and print what came of it
	@$(PY) -m tests.exactly_once
	@$(PY) -m tests.faults

.PHONY: bench
bench: $(STAMP) ## Measure beside peers, as ratios from one run
	@$(PY) -m benchmarks.idempotency
	@$(PY) -m benchmarks.workspace
	@$(PY) -m benchmarks.search
	@$(PY) -m benchmarks.patch
	@$(PY) -m benchmarks.patch_repair
	@$(PY) -m benchmarks.repair

.PHONY: deploy
deploy: $(STAMP) ## Deploy to your AWS account (STAGE=dev|prod, SURFACES, STACKS, ARGS for the CDK CLI)
	$(CDK) deploy $(or $(STACKS),--all) -c stage=$(STAGE) $(if $(SURFACES),-c surfaces=$(SURFACES)) $(ARGS)

.PHONY: diff
diff: $(STAMP) ## Show what a deploy would change (STAGE, SURFACES, ARGS)
	$(CDK) diff -c stage=$(STAGE) $(if $(SURFACES),-c surfaces=$(SURFACES)) $(ARGS)

.PHONY: destroy
destroy: $(STAMP) ## Remove the stacks from your AWS account (STAGE, STACKS, ARGS); prod keeps its data
	$(CDK) destroy $(or $(STACKS),--all) -c stage=$(STAGE) -c surfaces=$(or $(SURFACES),$(EVERY_SURFACE)) $(ARGS)

.PHONY: logs
logs: $(STAMP) ## Print what the local tools wrote in the last 15 minutes
	@$(PY) -m toolgate.local logs

.PHONY: clean
clean: ## Stop the local cloud and remove everything that make created
	@if [ -x $(PY) ]; then $(PY) -m toolgate.local down; fi
	rm -rf .venv .local build cdk.out .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
