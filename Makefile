# Every target creates the environment it needs; `make help` lists them.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
READY   = $(VENV)/.ready
JOBS   ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test quick lint bench docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "kohort needs Python 3.11 or newer: set PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY) ## anonymize the built-in hospital table and show release, proof and loss
	@$(BIN)/kohort demo

test: $(READY) lint ## lint, types and the whole test suite, in parallel
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

quick: $(READY) ## the tests that take no more than a few seconds each
	$(BIN)/python -m pytest -n $(JOBS) -m 'not slow'

lint: $(READY) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY) ## speed and loss, side by side in one run
	$(BIN)/python benchmarks/run.py

docs: $(READY) ## write the generated pages: command line reference and policy schema
	$(BIN)/python docs/generate.py

clean: ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
