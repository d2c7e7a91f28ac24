"""The account before a deployment: its active runs, and the role of ECS."""

from types import SimpleNamespace

import boto3
import pytest
from botocore.stub import Stubber

from aws.client import before_deployment
from aws.client.before_deployment import ensure_role, main

MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:Run"
RUN = "arn:aws:states:us-east-1:123456789012:execution:Run:weekly"


@pytest.fixture
def account(monkeypatch):
    """Return the stubs of the account's services by name, and the profiles that were asked for."""
    names = ("cloudformation", "iam", "stepfunctions")
    keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    clients = {name: boto3.client(name, region_name="us-east-1", **keys) for name in names}
    stubs = {name: Stubber(client) for name, client in clients.items()}
    profiles = []

    def session(profile_name, region_name):
        profiles.append(profile_name)
        return SimpleNamespace(client=clients.get)

    monkeypatch.setattr(before_deployment.boto3, "Session", session)
    for stub in stubs.values():
        stub.activate()
    yield SimpleNamespace(**stubs, profiles=profiles)
    for stub in stubs.values():
        stub.assert_no_pending_responses()


def without_stack(account, name="Tidemark"):
    account.cloudformation.add_client_error(
        "describe_stacks",
        "ValidationError",
        f"Stack with id {name} does not exist",
        expected_params={"StackName": name},
    )


def with_runs(account, *runs):
    output = {"OutputKey": "StateMachine", "OutputValue": MACHINE}
    stack = {"StackName": "Tidemark", "CreationTime": 0, "StackStatus": "CREATE_COMPLETE"}
    account.cloudformation.add_response(
        "describe_stacks", {"Stacks": [{**stack, "Outputs": [output]}]}
    )
    of_each = {"stateMachineArn": MACHINE, "name": "weekly", "status": "RUNNING", "startDate": 0}
    account.stepfunctions.add_response(
        "list_executions",
        {"executions": [{"executionArn": run, **of_each} for run in runs]},
        {"stateMachineArn": MACHINE, "statusFilter": "RUNNING"},
    )


def with_role(account):
    role = {
        "RoleName": "AWSServiceRoleForECS", "RoleId": "x" * 16, "Path": "/", "CreateDate": 0,
        "Arn": "arn:aws:iam::123456789012:role/AWSServiceRoleForECS",
    }  # fmt: skip
    account.iam.add_response("get_role", {"Role": role}, {"RoleName": "AWSServiceRoleForECS"})


def test_an_account_without_the_role_gets_it(account, capsys):
    without_stack(account)
    account.iam.add_client_error("get_role", "NoSuchEntity")
    account.iam.add_response(
        "create_service_linked_role", {}, {"AWSServiceName": "ecs.amazonaws.com"}
    )

    assert main(["-c", "image=none", "--profile", "work"]) == 0

    assert account.profiles == ["work"]
    assert capsys.readouterr().out == (
        "The account has the role AWSServiceRoleForECS from now on.\n"
    )


def test_an_account_with_the_role_keeps_it(account):
    with_role(account)

    assert not ensure_role(account.iam.client)


def test_a_refusal_says_what_to_do_if_the_cluster_fails(account, capsys):
    without_stack(account)
    account.iam.add_client_error("get_role", "AccessDenied", "User: x is not authorized")

    assert main([]) == 0

    assert capsys.readouterr().err.endswith(
        "User: x is not authorized. If the cluster fails: aws iam create-service-linked-role "
        "--aws-service-name ecs.amazonaws.com\n"
    )


def test_a_deployment_waits_for_the_end_of_an_active_run(account, capsys):
    with_runs(account, RUN)

    assert main([]) == 2

    assert capsys.readouterr().err == (
        f"make: {RUN} is active, and would lose the trials that are prepared: wait for its end, "
        "stop it with `tidemark stop --aws`, or deploy with DURING_RUNS=yes\n"
    )


@pytest.mark.parametrize("arguments", [[], ["-c", "stackName=Tidemark"]])
def test_a_deployment_begins_when_no_run_is_active(account, arguments):
    with_runs(account)
    with_role(account)

    assert main(arguments) == 0


def test_a_deployment_begins_during_a_run_if_it_has_to(account):
    with_role(account)

    assert main(["--during-runs"]) == 0


def test_the_runs_are_those_of_the_stack_that_is_deployed(account):
    without_stack(account, "Perf")
    with_role(account)

    assert main(["-c", "stackName=Perf", "--require-approval", "never"]) == 0


def test_a_deployment_is_refused_if_the_runs_cannot_be_asked_for(account, capsys):
    account.cloudformation.add_client_error("describe_stacks", "AccessDenied", "User: x may not")

    assert main([]) == 2

    told = capsys.readouterr().err
    assert told.startswith("make: whether a run of Tidemark is active is not known: ")
    assert told.endswith("User: x may not. DURING_RUNS=yes deploys without the answer\n")


def test_an_unknown_profile_is_refused_in_one_sentence(monkeypatch, tmp_path, capsys):
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))

    assert main(["--profile", "typo"]) == 2

    told = capsys.readouterr().err
    assert "The config profile (typo) could not be found" in told
    assert told.count("\n") == 1
