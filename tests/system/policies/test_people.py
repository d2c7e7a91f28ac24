"""The policies of people, against the calls of the commands that these people type."""

import pytest
from click.testing import CliRunner

from aws.client import before_deployment
from onebox.cloud.policy_evaluation import allowed, read_statements
from tests.system.end_to_end.deployed import deploy
from tests.system.policies.authorization import requests
from tests.system.policies.deployment import read_deployment
from tests.system.policies.recording import read_calls, recorded
from tidemark.cli import (
    comment,
    compare,
    dashboard,
    decisions,
    history,
    run,
    runs,
    show,
    sql,
)
from tidemark.model.checkout import ROOT

pytestmark = pytest.mark.systems

VERSIONS = ("--versions", "9.0.0,9.8.4", "--layout", "trials", "--repetitions", "1")
READING = {
    "runs": (runs.runs, []),
    "show": (show.show, []),
    "compare": (compare.command, ["9.0.0", "9.8.4"]),
    "history": (history.command, ["rocksdb"]),
    "sql": (sql.command, ["SELECT version, value FROM rates"]),
    "dashboard": (dashboard.command, []),
}
RUNNING = {"run": (run.command, ["rocksdb", *VERSIONS, "--set", "records=2000"])}
CHANGING = {
    # It works the rows of a run out again.
    "report": (show.report, ["RUN"]),
    "exclude": (decisions.exclude, ["RUN", "--reason", "seen"]),
    "include": (decisions.include, ["RUN"]),
    "comment": (comment.command, ["RUN", "--file", str(ROOT / "docs/profiles/pairs.txt")]),
}
STOPPING = {"stop": (runs.stop, ["RUN", "--reason", "seen"])}
ALLOWED = {
    "ReaderPolicy": READING,
    "PipelinePolicy": {**READING, **RUNNING, **STOPPING},
    "OperatorPolicy": {**READING, **RUNNING, **STOPPING, **CHANGING},
    # `make deploy` asks this before the CDK takes the roles of the bootstrap stack.
    "DeployerPolicy": ["deploy"],
}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Return the statements of each policy, and the IAM requests of each command."""
    calls = tmp_path_factory.mktemp("calls")
    with (
        deploy(
            tmp_path_factory.mktemp("state"), calls / "roles", context={"policies": True}
        ) as deployed,
        pytest.MonkeyPatch.context() as patch,
    ):
        endpoint = deployed.cloud.endpoint
        for name, value in endpoint.environment().items():
            patch.setenv(name, value)
        deployment = read_deployment(endpoint)
        needed = {}
        for name, command in {**RUNNING, **READING, **CHANGING, **STOPPING}.items():
            if name == "stop":
                deployed.client.start({"suite": "rocksdb", "parameters": {"records": 1_000_000}})
                deployed.until(lambda: len(stored_runs(deployed)) == 2)
            run_id = max(stored_runs(deployed), default="")
            invoke(command, run_id, calls / name)
            needed[name] = needed_by(calls / name, deployment)
        with recorded(calls / "deploy", of_owner=True):
            assert before_deployment.main([]) == 0
        needed["deploy"] = needed_by(calls / "deploy", deployment)
        yield {name: statements(deployed, name) for name in ALLOWED}, needed


def needed_by(folder, deployment):
    """Return the IAM requests of the calls in a folder."""
    (file,) = folder.glob("*/calls.jsonl")
    return {request for call in read_calls(file) for request in requests(call, deployment)}


def stored_runs(deployed):
    return [*deployed.app.bucket.folders("runs/")]


def invoke(command, run_id, folder):
    program, words = command
    given = [run_id if word == "RUN" else word for word in words]
    with recorded(folder, of_owner=True):
        done = CliRunner().invoke(program, [*given, "--aws", "--state", str(folder / "saved")])
    assert done.exit_code == 0, (given, done.output, done.exception)


def statements(deployed, name):
    iam = deployed.cloud.endpoint.client("iam")
    version = iam.get_policy_version(PolicyArn=deployed.stack.outputs[name], VersionId="v1")
    return read_statements(version["PolicyVersion"]["Document"])


@pytest.mark.parametrize("policy", ALLOWED)
def test_a_policy_allows_each_call_of_its_commands(recording, policy):
    statements, needed = recording

    denied = {
        f"{name}: {request.action} on {request.resource}"
        for name in ALLOWED[policy]
        for request in needed[name]
        if not allowed(request, statements[policy])
    }
    assert denied == set()


def test_a_reader_can_neither_measure_nor_change_what_was_measured(recording):
    statements, needed = recording

    for name in ("run", "stop", "exclude"):
        assert not all(allowed(request, statements["ReaderPolicy"]) for request in needed[name])
