# The executable contributor guide. `make up` starts Pressbox, `make test` tests it; both set up what they need.
# Needs Python 3.11 or newer, make and a package index; nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_HOME := .uv
UV := $(UV_HOME)/bin/uv
# Processes that share the tests. Most of the time is waiting, so one more than the two cores of a small machine.
WORKERS ?= 3
export UV_PYTHON_DOWNLOADS := never
export UV_PROJECT_ENVIRONMENT := $(VENV)
# Where this is set, every one of the hundreds of processes that tests start would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help up demo test soak check audit format record bench bench-all docs clean browser containers types lint collected

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

up: $(VENV)/.ready ## Start everything and serve (Ctrl-C stops)
	@$(BIN)/pressbox up

demo: $(VENV)/.ready ## Start everything with the demo world
	@$(BIN)/pressbox demo

test: $(VENV)/.ready browser ## Run all tests (make test ARGS="tests/unit -x")
	$(BIN)/python -m tests.gate -n $(WORKERS) --dist worksteal --durations=25 --durations-min=5 $(ARGS)

soak: $(VENV)/.ready ## Kill everything again and again, then fuzz for an hour (wants a quiet machine)
	$(BIN)/pytest -p no:randomly $(or $(ARGS),tests/soak)
	$(BIN)/pytest -p no:randomly -n 2 --hypothesis-profile=search tests/unit
	$(BIN)/pytest -p no:randomly --timeout=0 -n 2 tests/fuzz --fuzz-seconds=3600

check: $(VENV)/.ready ## Format, lint, templates, types, imports, dependencies
	@$(MAKE) --no-print-directory --keep-going --jobs=2 types lint collected

types: $(VENV)/.ready
	$(BIN)/mypy

lint: $(VENV)/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/djangofmt --check src
	$(BIN)/djangofmt check src
	$(BIN)/lint-imports
	$(BIN)/python -m tests.architecture.audit

# Every test can be imported. What pytest makes of the files is kept, so that its processes need not do it each again.
collected: $(VENV)/.ready
	@found=$$($(BIN)/pytest --collect-only -qq) || { echo "$$found"; exit 1; }

audit: $(VENV)/.ready ## Ask for known vulnerabilities of what is locked (needs the network)
	$(UV) audit --frozen

format: $(VENV)/.ready ## Format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/djangofmt check --fix src
	$(BIN)/djangofmt src

containers: $(VENV)/.ready ## Build the image, run compose's services on it and restart them at work (needs podman or docker)
	$(BIN)/python -m tests.containers

record: $(VENV)/.ready ## Record workflow histories for the replay tests
	$(BIN)/python -m tests.replay.record

bench: $(VENV)/.ready ## Measure (make bench NAME=platform)
	$(BIN)/pressbox bench $(or $(NAME),platform) $(ARGS)

bench-all: $(VENV)/.ready ## Compare all ratios with the last release's (make bench-all ARGS="--quick --rounds 3")
	$(BIN)/pressbox bench all $(ARGS)

docs: $(VENV)/.ready ## Write the generated pages of docs/
	$(BIN)/python -m tests.architecture.generated_docs

browser: $(VENV)/.ready
	@$(BIN)/python -m tests.browser.install
	@$(BIN)/python -m tests.apps.install

clean: ## Remove what was built or cached; your data stays
	rm -rf $(VENV) $(UV_HOME) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache screenshots
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(UV):
	$(PYTHON) -c 'import sys; sys.exit("Pressbox needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11 $(MAKECMDGOALS)" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(UV_HOME)
	$(UV_HOME)/bin/pip install --quiet --disable-pip-version-check uv

$(VENV)/.ready: $(UV) pyproject.toml uv.lock
	$(UV) sync --frozen --compile-bytecode --quiet --python $(UV_HOME)/bin/python
	@touch $@
