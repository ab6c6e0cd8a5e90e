# Every day's commands. `make` alone lists them.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# The newest Python that the distribution supports and this machine has; `make PYTHON=… setup` chooses another.
PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3,$(shell command -v $(name))))
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO_VENV := .venvs/demo
DEMO_READY := $(DEMO_VENV)/.ready
PIP := -m pip --disable-pip-version-check --quiet --quiet
# Where PostgreSQL's programs are when they are not on the path, as on Debian.
INITDB = $(firstword $(shell command -v initdb) $(wildcard /usr/lib/postgresql/*/bin/initdb))
CHROMIUM = $(wildcard /usr/bin/chromium)

.PHONY: help setup demo serve test soak lint format screenshots bench constraints demo-environment clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv with the service, the tests and the tools

$(READY): pyproject.toml constraints.txt
	@echo "setting up $(VENV) (a few minutes the first time)"
	@test -n "$(PYTHON)" || { echo "no python3 found; install Python 3.11 or newer" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than Python 3.11; say which one to use: make PYTHON=…" >&2; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python $(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@

# What the tests drive beyond Python: PostgreSQL, one of the two stores of the records, and a browser for the pages.
.PHONY: programs
programs:
	@missing="$(if $(INITDB),,postgresql) $(if $(CHROMIUM),,chromium)"; \
	if [ -n "$${missing// /}" ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "installing for the tests:$$missing"; \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
		else \
			echo "the tests need programs that are not here; install the packages:$$missing" >&2; exit 1; \
		fi; \
	fi

# The agent of the demo lives apart, as a real one would: the base installation and its framework, nothing of the service.
demo-environment: $(DEMO_READY)

$(DEMO_READY): pyproject.toml constraints.txt demo/requirements.txt
	@echo "setting up $(DEMO_VENV)"
	@test -x $(DEMO_VENV)/bin/python || "$(PYTHON)" -m venv $(DEMO_VENV)
	@$(DEMO_VENV)/bin/python $(PIP) install -c constraints.txt -e . -r demo/requirements.txt
	@touch $@

demo: $(READY) $(DEMO_READY) ## the whole way on real spans: an agent, its traces, grades, a cut, two files (KEEP=1: leave the service running)
	@KEEP=$(KEEP) $(DEMO_VENV)/bin/python -m demo.run

serve: $(READY) ## run the service on its default ports
	@$(BIN)/whileai serve

test: $(READY) $(DEMO_READY) programs ## everything that fits in 25 minutes on two cores
	@$(BIN)/python -m pytest -m 'not soak' -n 2 --dist loadfile $(TESTS)

soak: $(READY) $(DEMO_READY) programs ## the long forms: crash loops, big files, every framework
	@$(BIN)/python -m pytest -m soak $(TESTS)

lint: $(READY) ## style, types, and who may import whom
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(READY) ## put imports and layout in order
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

screenshots: $(READY) programs ## pictures of every page, light and dark, into docs/screenshots
	@PYTHONPATH=tests $(BIN)/python tests/browser/screenshots.py

bench: $(READY) ## measure the ingest path and the instrumentation on this machine
	@$(BIN)/python -m bench.run
	@$(BIN)/python -m bench.compare
	@$(BIN)/python -m bench.instrumentation

constraints: ## pin the newest versions that fit, by name only, into constraints.txt
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	"$(PYTHON)" -m venv "$$folder/all"; \
	"$$folder/all/bin/python" $(PIP) install --upgrade -e '.[dev]' -r demo/requirements.txt; \
	"$$folder/all/bin/python" $(PIP) freeze --exclude-editable --all \
		| grep -E '^[A-Za-z0-9._-]+==' | grep -vE '^(pip|setuptools|wheel)==' | LC_ALL=C sort -f > "$$folder/constraints.txt"; \
	cp "$$folder/constraints.txt" constraints.txt
	@echo "constraints.txt: $$(wc -l < constraints.txt) versions; run make test before committing it"

clean: ## remove the environments and every cache
	@rm -rf $(VENV) .venvs .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis demo-data
