"""The modules that a function loads at its cold start; ``make bench`` measures their time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tidemark.model.checkout import ROOT

ADAPTERS = {"announcements", "ecs", "executions", "log_queries", "look_ups"}
# Modules of other projects stay loaded: of these, a handler may load what those above it load.
UNNEEDED = {
    "clean_up_trial": {"tidemark.model.base", "tidemark.model.plan"},
    "pause_rules": {"tidemark.figures", "tidemark.model.plan"},
    "find_tasks": {"aws_croniter", "tidemark.figures", "tidemark.model.request"},
    "check_condition": {"aws_croniter", "tidemark.figures.verdicts", "tidemark.model.request"},
    "stop_services": {"tidemark.model.plan", "tidemark.store.keys"},
    "classify_stop": {"tidemark.model.plan", "tidemark.store"},
    "prepare_trial": {
        "tidemark.figures",
        "tidemark.model.request",
        "tidemark.model.results",
        "tidemark.money.prices",
    },
    "plan_run": {
        "tidemark.figures",
        "tidemark.model.results",
        "tidemark.model.suite_files",
        "tidemark.money.budget",
        "yaml",
    },
    "record_trial": {
        "tidemark.figures.rates",
        "tidemark.model.outcome",
        "tidemark.model.request",
        "tidemark.money.budget",
    },
    "end_run": {"tidemark.figures", "tidemark.model.request", "tidemark.money.budget"},
    "collect_rates": {"aws_croniter", "tidemark.figures.version_rates", "tidemark.model.request"},
    "sweep_runs": {"tidemark.figures", "tidemark.model.request"},
    "choose_trial": {
        "tidemark.figures.verdicts.version_verdicts",
        "tidemark.model.outcome",
        "tidemark.model.request",
    },
    "record_outcome": {"tidemark.figures.verdicts.version_verdicts", "tidemark.model.request"},
    "record_rates": {"tidemark.model.request", "tidemark.report"},
    "publish_comparison": {
        "tidemark.model.request",
        "tidemark.report.run_report.publishing",
        "tidemark.store.history",
    },
    "publish_report": {
        "boto3",
        "pydantic_settings",
        "s3transfer",
        "tidemark.cli",
        "tidemark.dashboard",
        "tidemark.model.request",
        "yaml",
    },
}
PROBE = """
import gc, importlib, json, sys
before = gc.get_threshold()[0]
loaded = {}
for name in sys.argv[1:]:
    for module in [*sys.modules]:
        if module.partition(".")[0] in ("aws", "lambdas", "tidemark"):
            del sys.modules[module]
    importlib.import_module(f"lambdas.{name}")
    loaded[name] = sorted(sys.modules)
models = [
    name
    for name, module in sys.modules.items()
    if name.startswith(("tidemark.", "lambdas."))
    and "annotations" in vars(module)
    and any(
        hasattr(kind, "__pydantic_fields__") and kind.__module__ == name
        for kind in vars(module).values()
    )
]
garbage = {"before": before, "after": gc.get_threshold()[0]}
print(json.dumps({"loaded": loaded, "compiling": models, "garbage": garbage}))
"""


@pytest.fixture(scope="module")
def imports():
    """Return the modules that are loaded after each handler, and the models that compile types."""
    command = [sys.executable, "-c", PROBE, *UNNEEDED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_every_handler_is_examined():
    files = (ROOT / "lambdas").glob("*.py")
    handlers = {file.stem for file in files if "\ndef handler(" in file.read_text()}

    assert handlers == set(UNNEEDED)


@pytest.mark.parametrize("handler", UNNEEDED)
def test_a_handler_loads_no_module_that_it_does_not_need(imports, handler):
    loaded = imports["loaded"][handler]
    parents = {name.rsplit(".", depth)[0] for name in loaded for depth in range(4)}

    assert sorted(parents & UNNEEDED[handler]) == []


@pytest.mark.parametrize("handler", UNNEEDED)
def test_a_handler_loads_the_adapter_of_the_bucket_alone(imports, handler):
    assert not {f"aws.{name}" for name in ADAPTERS} & {*imports["loaded"][handler]}


def test_no_model_compiles_the_text_of_its_annotations(imports):
    assert imports["compiling"] == []


def test_a_handler_looks_for_garbage_less_often_than_python_does_by_default(imports):
    assert imports["garbage"]["after"] >= 5 * imports["garbage"]["before"]
