"""The policies of people, against the calls of the commands that these people type."""

import json
import os
import re
from itertools import chain
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from aws.client import before_deployment
from onebox.app import ACCOUNT, REGION
from onebox.cloud.policy_evaluation import Request, Statement, allowed, read_statements
from tests.system.end_to_end.deployed import deploy
from tests.system.end_to_end.test_deploying import make
from tests.system.policies.authorization import requests
from tests.system.policies.deployment import read_deployment
from tests.system.policies.recording import read_calls, recorded
from tidemark.cli import (
    comment,
    compare,
    copies,
    dashboard,
    decisions,
    history,
    import_figures,
    profile,
    run,
    runs,
    show,
    sql,
)
from tidemark.cli.this_machine import empty_cloud
from tidemark.model.checkout import ROOT

pytestmark = pytest.mark.systems

OF_ROCKSDB = ("--suite", "rocksdb")
VERSIONS = ("--versions", "9.0.0,9.8.4", "--layout", "trials", "--repetitions", "1")
READING = {
    "runs": (runs.runs, []),
    "show": (show.show, []),
    "compare": (compare.command, ["9.0.0", "9.8.4"]),
    "history": (history.command, ["rocksdb"]),
    "sql": (sql.command, ["SELECT version, value FROM rates"]),
    "dashboard": (dashboard.command, []),
    "export": (copies.export, ["FOLDER/copy"]),
}
RUNNING = {"run": (run.command, ["rocksdb", *VERSIONS, "--set", "records=2000"])}
CHANGING = {
    # It works the rows of a run out again.
    "report": (show.report, ["RUN"]),
    "exclude": (decisions.exclude, ["RUN", "--reason", "seen"]),
    "include": (decisions.include, ["RUN"]),
    "comment": (comment.command, ["RUN", "--file", str(ROOT / "docs/profiles/pairs.txt")]),
    "import": (import_figures.command, [str(ROOT / "docs/import.md"), "--suite", "sleeper"]),
    "profile import": (
        profile.command,
        ["import", "FOLDER/ingest.folded", *OF_ROCKSDB, "--version", "9.0.0", "--test", "ingest"],
    ),
    "profile remove": (profile.command, ["remove", "PROFILE", *OF_ROCKSDB]),
}
STOPPING = {"stop": (runs.stop, ["RUN", "--reason", "seen"])}
ALLOWED = {
    "ReaderPolicy": READING,
    "PipelinePolicy": {**READING, **RUNNING, **STOPPING},
    "OperatorPolicy": {**READING, **RUNNING, **STOPPING, **CHANGING},
    # `make deploy` asks this before the CDK takes the roles of the bootstrap stack.
    "DeployerPolicy": ["deploy"],
}


BOOTSTRAP = yaml.safe_load(
    (ROOT / "node_modules/aws-cdk/lib/api/bootstrap/bootstrap-template.yaml").read_text()
)["Resources"]
# AWS managed policy reference, AWSCloudFormationReadOnlyAccess, which the deploy role has.
READING_STACKS = ("cloudformation:Describe*", "cloudformation:Get*", "cloudformation:List*")
# Service Authorization Reference, Amazon S3: the actions of operations with other names.
ACTIONS = {
    "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration",
    "s3:HeadObject": "s3:GetObject",
    "s3:ListObjectsV2": "s3:ListBucket",
}


@pytest.fixture(scope="module")
def deployment_by_the_cdk(tmp_path_factory):
    """Return the assembly of a deployment by the CDK's command line, and the calls of that."""
    out, calls = tmp_path_factory.mktemp("assembly"), tmp_path_factory.mktemp("calls")
    with (
        empty_cloud(tmp_path_factory.mktemp("account"), 0) as cloud,
        recorded(calls / "owner", of_owner=True),
        recorded(calls / "roles"),
    ):
        environment = {**os.environ, **cloud.endpoint.environment()}
        done = make("make deploy", environment, f"--output {out}", "--require-approval never")
    assert done.returncode == 0, done.stdout + done.stderr
    files = calls.glob("*/*/calls.jsonl")
    return out, [call for file in files for call in read_calls(file)]


@pytest.fixture(scope="module")
def recording(deployment_by_the_cdk, tmp_path_factory):
    """Return the statements of each policy, and the IAM requests of each command."""
    assert deployment_by_the_cdk  # whose cloud has ended: a process has one at a time
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
                known = len(stored_runs(deployed))
                deployed.client.start({"suite": "rocksdb", "parameters": {"records": 1_000_000}})
                deployed.until(lambda known=known: len(stored_runs(deployed)) > known)
            profiles = deployed.app.bucket.keys("profiles/rocksdb/")
            given = {
                "RUN": max(stored_runs(deployed), default=""),
                "PROFILE": min((Path(key).stem for key in profiles), default=""),
                "FOLDER": str(tmp_path_factory.mktemp("files")),
            }
            Path(given["FOLDER"], "ingest.folded").write_text("main;put 7\n", encoding="utf-8")
            invoke(command, given, calls / name)
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


def invoke(command, values, folder):
    program, words = command
    given = [
        re.sub("^(RUN|PROFILE|FOLDER)", lambda named: values[named[0]], each) for each in words
    ]
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


def of_role(role):
    """Yield the statements of a role of the bootstrap stack, with * for what an account decides."""
    own = [each["PolicyDocument"] for each in BOOTSTRAP[role]["Properties"].get("Policies", ())]
    attached = [
        each["Properties"]["PolicyDocument"]
        for each in BOOTSTRAP.values()
        if {"Ref": role} in each.get("Properties", {}).get("Roles", ())
    ]
    for written in chain.from_iterable(each["Statement"] for each in (*own, *attached)):
        # The objects of other accounts are none of this deployment's.
        if written["Effect"] == "Allow" and "StringNotEquals" not in written.get("Condition", {}):
            resources = re.findall(r'"Fn::Sub": "([^"]+)"|"(\*)"', json.dumps(written["Resource"]))
            patterns = tuple(re.sub(r"\$\{[^}]+\}", "*", sub or any_) for sub, any_ in resources)
            actions = written["Action"]
            listed = (actions,) if isinstance(actions, str) else tuple(actions)
            yield Statement("Allow", listed, patterns)
    if "AWSCloudFormationReadOnlyAccess" in json.dumps(BOOTSTRAP[role]):
        yield Statement("Allow", READING_STACKS, ("*",))


def of_deployment(call):
    """Return the IAM request of a call of the CDK's command line."""
    named = call.parameters.get("Bucket") or call.parameters.get("Name") or "*"
    resource = {"s3": "arn:aws:s3:::{}", "ssm": f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter{{}}"}
    service = call.operation.partition(":")[0]
    action = ACTIONS.get(call.operation, call.operation)
    return Request(action, resource.get(service, "{}").format(named))


def test_a_deployer_may_take_each_role_that_a_deployment_names(recording, deployment_by_the_cdk):
    assembly, calls = deployment_by_the_cdk
    account = {"Qualifier": "hnb659fds", "AWS::AccountId": ACCOUNT, "AWS::Region": REGION}
    known = {
        role: re.sub(r"\$\{([^}]+)\}", lambda found: account[found[1]], name["Fn::Sub"])
        for role, name in (
            (role, each["Properties"].get("RoleName")) for role, each in BOOTSTRAP.items()
        )
        if name
    }
    of_cloudformation = known.pop("CloudFormationExecutionRole")
    texts = [file.read_text(encoding="utf-8") for file in assembly.glob("*.json")]
    named = {name for text in texts for name in re.findall(r":role/(cdk-[a-z0-9-]+-role)-", text)}

    assert named <= {name.removesuffix(f"-{ACCOUNT}-{REGION}") for name in known.values()} | {
        of_cloudformation.removesuffix(f"-{ACCOUNT}-{REGION}")
    }
    taken = {f"arn:aws:iam::{ACCOUNT}:role/{name}" for name in known.values()}
    asked = {call.parameters["RoleArn"] for call in calls if call.operation == "sts:AssumeRole"}
    assert asked <= taken
    given = recording[0]["DeployerPolicy"]
    assert all(allowed(Request("sts:AssumeRole", arn), given) for arn in taken)
    of_cloudformation = f"arn:aws:iam::{ACCOUNT}:role/{of_cloudformation}"
    assert not allowed(Request("sts:AssumeRole", of_cloudformation), given)


def test_a_role_of_the_bootstrap_stack_may_do_what_the_cdk_does_with_it(deployment_by_the_cdk):
    roles = ("DeploymentActionRole", "FilePublishingRole", "LookupRole")
    sessions = {}
    for call in deployment_by_the_cdk[1]:
        # The caller of any other call is whoever deploys.
        if call.role.startswith("ASIA"):
            sessions.setdefault(call.role, set()).add(of_deployment(call))

    done = {request.action for each in sessions.values() for request in each}
    assert {"cloudformation:ExecuteChangeSet", "s3:PutObject", "ssm:GetParameter"} <= done
    for needed in sessions.values():
        assert any(
            all(allowed(request, list(of_role(role))) for request in needed) for role in roles
        ), needed
