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

.DEFAULT_GOAL := help
.PHONY: help up demo test soak check audit format record bench docs clean browser

help: ## Show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

up: $(VENV)/.ready ## Start everything and serve (Ctrl-C stops)
	@$(BIN)/pressbox up

demo: $(VENV)/.ready ## Start everything with the demo world
	@$(BIN)/pressbox demo

test: $(VENV)/.ready browser ## Run all tests (make test ARGS="tests/unit -x")
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --durations=25 --durations-min=5 $(ARGS)

soak: $(VENV)/.ready ## Kill everything again and again, then fuzz for an hour (wants a quiet machine)
	$(BIN)/pytest -p no:randomly $(or $(ARGS),tests/soak)
	$(BIN)/pytest -p no:randomly -n 2 --hypothesis-profile=search tests/unit
	$(BIN)/pytest -p no:randomly --timeout=0 -n 2 tests/fuzz --fuzz-seconds=3600

check: $(VENV)/.ready ## Format, lint, templates, types, imports, dependencies
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/djangofmt --check src
	$(BIN)/djangofmt check src
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.architecture.audit

audit: $(VENV)/.ready ## Ask for known vulnerabilities of what is locked (needs the network)
	$(UV) audit --frozen

format: $(VENV)/.ready ## Format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/djangofmt check --fix src
	$(BIN)/djangofmt src

record: $(VENV)/.ready ## Record workflow histories for the replay tests
	$(BIN)/python -m tests.replay.record

bench: $(VENV)/.ready ## Measure (make bench NAME=platform)
	$(BIN)/pressbox bench $(or $(NAME),platform) $(ARGS)

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
