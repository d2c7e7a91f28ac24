# `make run` measures three RocksDB versions on this machine; `make test` runs every check.
# Each target sets up what it needs and does nothing twice.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTHON_READY := $(VENV)/.ready
NODE_READY := node_modules/.ready
# Node and npm come from the virtual environment, whatever the machine has.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Without its bytecode cache Python compiles moto and the CDK anew in every process.
export PYTHONDONTWRITEBYTECODE :=
ARGS ?=

.PHONY: run test check lint bench synth clean
.DEFAULT_GOAL := help

help:  ## Say what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(PYTHON_READY)  ## Measure RocksDB on this machine: make run ARGS='--versions 9.0.0,9.8.4'
	$(BIN)/tidemark run $(ARGS)

test: lint $(NODE_READY)  ## Every check and test
	$(BIN)/python -m pytest

check: lint  ## Lint, types and the fast tests
	$(BIN)/python -m pytest tests/unit

lint: $(PYTHON_READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(PYTHON_READY)  ## Measure speed, as ratios in one run
	$(BIN)/python -m tests.bench

synth: $(PYTHON_READY) $(NODE_READY)  ## Synthesise the CloudFormation template into cdk.out/
	node_modules/.bin/cdk synth --quiet

clean:  ## Remove what was built; results in .tidemark/ stay
	rm -rf $(VENV) node_modules cdk.out *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .tidemark/assemblies .tidemark/functions

$(PYTHON_READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	  { echo "make: Python 3.11 is needed, $(PYTHON) is another; set PYTHON=python3.11" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$(grep '^uv==' requirements.txt)
	$(BIN)/uv pip sync --quiet --python $(BIN)/python requirements.txt
	$(BIN)/uv pip install --quiet --no-deps --python $(BIN)/python --editable .
	touch $@

$(NODE_READY): package.json package-lock.json $(PYTHON_READY)
	npm ci --silent --ignore-scripts
	touch $@
