# Every target creates the environment it needs; `make help` lists them.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
LOWEST ?= .venv-lowest
CORE    = $(VENV)/.core
READY   = $(VENV)/.ready
JOBS   ?= auto
N      ?= 300
JAVA    = openjdk-17-jre-headless
# Tests are compiled once, and not by every worker of every run.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test java postgres chromium kills quick lowest lint adversary bench docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What a release and its report need, and no more: half of what the tests need.
$(CORE): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "kohort needs Python 3.11 or newer: set PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "kohort and its libraries go into $(VENV): about a minute, and 750 MB"
	@$(BIN)/python -m pip install --disable-pip-version-check --no-compile -c constraints.txt -e '.[report]'
	@touch $@

$(READY): $(CORE)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(CORE) ## anonymize the built-in hospital table and show release, proof and loss
	@$(BIN)/kohort demo

test: $(READY) lint java postgres chromium ## lint, types and the whole test suite, in parallel; Spark in one process of its own
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --durations=10 -m 'not spark'
	$(BIN)/python -m pytest --durations=10 -m spark

java: ## Java, which Spark needs; Debian's package where there is none
	@test -n "$$JAVA_HOME" || command -v java >/dev/null || ! command -v apt-get >/dev/null || \
	  $$(test $$(id -u) = 0 || echo sudo -n) sh -c 'apt-get update; apt-get install -y $(JAVA) || apt-get install -y default-jre-headless' \
	  >/dev/null 2>&1 || echo 'no Java: tests of Spark are skipped, or fail if CI is set'

postgres: ## PostgreSQL for its tests; Debian's package where there is none
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || ! command -v apt-get >/dev/null || \
	  $$(test $$(id -u) = 0 || echo sudo -n) sh -c 'apt-get update; apt-get install -y postgresql' \
	  >/dev/null 2>&1 || echo 'no PostgreSQL: its tests are skipped, or fail if CI is set'

chromium: ## Chromium for the tests of reports; Debian's package where there is none
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || ! command -v apt-get >/dev/null || \
	  $$(test $$(id -u) = 0 || echo sudo -n) sh -c 'apt-get update; apt-get install -y chromium' \
	  >/dev/null 2>&1 || echo 'no Chromium: tests of pages are skipped, or fail if CI is set'

kills: $(READY) ## kill N releases and audits at random moments: make kills N=200
	KOHORT_KILLS=$(or $(N),200) $(BIN)/python -m pytest tests/faults/test_kills.py

quick: $(READY) ## a few examples of everything that is not slow: less than a minute on two cores
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --quick

lowest: ## the quick tests with the oldest libraries that pyproject.toml allows
	@$(PYTHON) -m venv $(LOWEST)
	@grep -oE '"[a-z0-9-]+(\[[a-z]+\])?>=[0-9.]+"' pyproject.toml | sed -E 's/"|\[[a-z]+\]//g; s/>=/==/' > $(LOWEST)/lowest.txt
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/lowest.txt -e '.[dev]'
	XDG_CACHE_HOME=$(abspath $(LOWEST)) $(LOWEST)/bin/python -m pytest -n $(JOBS) --dist worksteal --quick

lint: $(READY) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

adversary: $(READY) java ## N random requests over all engines, and releases that were tampered with, judged from scratch
	$(BIN)/python -m tests.adversary -n $(N) -j $$(nproc)

bench: $(READY) ## speed and loss, side by side in one run
	$(BIN)/python benchmarks/run.py

docs: $(READY) ## write the generated pages: command line reference and policy schema
	$(BIN)/python docs/generate.py

clean: ## remove the environment and caches
	rm -rf $(VENV) $(LOWEST) .pytest_cache .mypy_cache .ruff_cache .hypothesis
