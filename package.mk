# `make check` checks a package in an environment of its own, which has only what it needs.
# PACKAGE is its name, NEEDS has the folders of the packages that it imports, EXTRAS its extras beside
# test, each with a comma, and TESTS its fast tests.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin
UV ?= $(or $(wildcard ../../.venv/bin/uv),uv)

.PHONY: check test
.DEFAULT_GOAL := check

check: lint
	$(BIN)/python -m pytest --numprocesses 2 $(TESTS)

test: lint
	$(BIN)/python -m pytest --numprocesses 2

lint: $(BIN)/.ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	MYPYPATH=$(subst $() ,:,$(NEEDS)) $(BIN)/mypy --config-file ../../pyproject.toml --package $(PACKAGE)

# The hashes of the pins are those of the whole repository.
$(BIN)/.ready: pyproject.toml ../../requirements.txt
	$(UV) venv --quiet --clear --no-project --python $(PYTHON) .venv
	$(UV) pip install --quiet --python .venv --constraint ../../requirements.txt --build-constraints ../../requirements.txt $(NEEDS:%=--editable %) --editable .[$(EXTRAS)test]
	touch $@
