"""The synthesised templates, shared by all tests, because each synthesis takes seconds."""

import json
import shutil
from pathlib import Path

import pytest
from aws_cdk import App

from cdk.app import build
from tests.component.infrastructure.granted import granted
from tests.component.infrastructure.synthesised import Synthesised
from tidemark.model.checkout import ROOT, written_context
from tidemark.model.suite_files import read_suites

REGISTRY = "210987654321.dkr.ecr.eu-west-2.amazonaws.com"


@pytest.fixture(scope="session")
def stack(tmp_path_factory):
    context = written_context()  # as the CDK CLI gives it
    return build(App(outdir=str(tmp_path_factory.mktemp("assembly")), context=context))


@pytest.fixture(scope="session")
def template(stack):
    return Synthesised(stack)


@pytest.fixture(scope="session")
def data(stack):
    """Return the template of the stack that outlives deployments."""
    return Synthesised(stack.data)


@pytest.fixture(scope="session")
def systems_with_images(tmp_path_factory):
    """Return a folder with the shipped suites, one of images that keeps files, one served,
    and one of instances."""
    folder = tmp_path_factory.mktemp("systems")
    (folder / "workloads").symlink_to(ROOT / "workloads")
    shutil.copytree(ROOT / "suites", folder / "suites")
    fields = read_suites()["rocksdb"].model_dump(mode="json", by_alias=True)
    # Versions of images, beside services and of instances take no turns.
    del fields["defaults"]["layout"]
    for test in fields["tests"]:
        del test["slices"]
    steps = [
        {"name": "reset", "invoke": {"function": "plum-reset"}},
        {"name": "load", "run_tasks": {}},
        {"name": "loaded", "wait_until": {"query": "ready"}},
    ]
    more = {"artefacts": [{"file": "*.folded"}], "steps": steps}
    suite = {
        **fields,
        "tests": [{**test, **more} for test in fields["tests"]],
        "name": "plum",
        "title": "Plum",
        "subject": {"image": f"{REGISTRY}/perf/plum:{{version}}", "form": ".*"},
        "task": {"cpu": 1024, "memory": 2048, "storage": 21},
    }
    task = {"workload": "rocksdb", "entry_point": ["python", "serve.py"]}
    size = {"cpu": 512, "memory": 1024, "storage": 21}
    ports = {"database": {"port": 5432}, "server": {"http": ":8080/health"}}
    served = {
        **fields,
        "name": "served",
        "title": "Served",
        "subject": {name: value for name, value in fields["subject"].items() if value is not None},
        "services": {name: {"task": {**task, **size}, "ready": ports[name]} for name in ports},
        "tests": [{**test, "services": list(ports)} for test in fields["tests"]],
    }
    places = [
        "s3://pear-{instance}-config-{account}/instance.properties",
        "s3://pear-{instance}/config",
    ]
    reset = {"name": "reset", "invoke": {"function": "pear-{instance}-reset"}}
    rest = {"name": "rest", "pause": {"rules": ["pear-{instance}-nightly"]}}
    emptied = {"name": "emptied", "wait_until": {"queues": ["pear-{instance}-jobs"]}}
    stopped = {"name": "stopped", "wait_until": {"tasks_stopped": "pear-{instance}-all"}}
    pear_steps = [rest, reset, emptied, stopped, {"name": "load", "run_tasks": {}}]
    pear = {
        **fields,
        "name": "pear",
        "title": "Pear",
        "subject": {"instance": {"objects": places, "version": "pear.version"}, "form": ".*"},
        "defaults": {"versions": ["deployed"], "repetitions": 1},
        "tests": [{**test, "steps": pear_steps} for test in fields["tests"]],
    }
    for name, written in (("plum", suite), ("served", served), ("pear", pear)):
        (folder / "suites" / name).mkdir()
        (folder / "suites" / name / "suite.yaml").write_text(json.dumps(written))
    return str(folder)


@pytest.fixture(scope="session")
def suites_of_everything(systems_with_images):
    """Return the suites of the deployment with all options on."""
    return read_suites(Path(systems_with_images))


@pytest.fixture(scope="session")
def app_of_everything(tmp_path_factory, systems_with_images):
    """Return the app and the stack of a deployment with all options on that are off by default."""
    context = {
        "systems": systems_with_images,
        "schedules": {
            "rocksdb": {"cron": "30 3 ? * SAT *", "timeZone": "Europe/London", "budgetUsd": 2}
        },
        "notifyEmail": "perf@example.com",
        "reports": True,
        "dashboard": True,
        "githubRepository": "perf/database",
        "reportsPrincipal": "arn:aws:quicksight:us-east-1:123456789012:group/default/Releases",
    }
    app = App(outdir=str(tmp_path_factory.mktemp("everything")), context=context)
    return app, build(app)


@pytest.fixture(scope="session")
def everything(app_of_everything):
    """Return the template of that stack."""
    _, stack = app_of_everything
    return Synthesised(stack)


@pytest.fixture(scope="session")
def policies(template):
    """Return the policy statements of each role, by the role's logical id."""
    by_role = {}
    for role, statement in granted(template):
        by_role.setdefault(role, []).append(statement)
    return by_role
