"""The stacks of the verification: made and changed by change sets, deleted with all they hold."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from aws.client.account import find_stack
from tidemark.client.deployed import Stack
from tidemark.model.checkout import ROOT
from tidemark.model.settings import EPHEMERAL_STACK

DATA = f"{EPHEMERAL_STACK}-Data"
_CHANGE_SET = "verification"
_CDK = ROOT / "node_modules" / ".bin" / "cdk"
_OTHER = {"logRetention": ("ONE_WEEK", "THREE_MONTHS"), "logsDeadlineSeconds": ("120", "180")}
"""Values of settings of log groups and of all functions, other than in cdk.json."""
_CAUSE = "the verification ends"
Client = Callable[[str], Any]
"""A function that returns a boto3 client by the name of its service."""


class Update(NamedTuple):
    """The deployment of other settings into the stack that may be replaced."""

    changes: list[dict[str, Any]]
    """The resources that it changes, as its change set lists them."""
    before: Mapping[str, str]
    """The physical ids of the stack's resources by logical id."""
    after: Mapping[str, str]


class CommandFailed(RuntimeError):
    """A command of the CDK that failed; it has printed why."""


def deploy(client: Client, assembly: Path, context: Sequence[str]) -> Stack:
    """Deploy both stacks and return the one that may be replaced; ``context`` has settings."""
    _synthesise(assembly, context)
    for name in (DATA, EPHEMERAL_STACK):
        _change(client("cloudformation"), assembly, name, "stack_create_complete")
    return find_stack(client("cloudformation"), EPHEMERAL_STACK)


def update(client: Client, assembly: Path, context: Sequence[str]) -> Update:
    """Deploy other settings into the stack that may be replaced; return what that changed."""
    _synthesise(assembly, [*context, *other_settings(context)])
    formation = client("cloudformation")
    before = _ids(formation)
    changes = _change(formation, assembly, EPHEMERAL_STACK, "stack_update_complete")
    return Update(changes, before, _ids(formation))


def other_settings(context: Sequence[str]) -> list[str]:
    """Return settings that differ from a deployment with ``context``."""
    given = dict(setting.split("=", 1) for setting in context)
    return [
        f"{name}={first if given.get(name) != first else second}"
        for name, (first, second) in _OTHER.items()
    ]


def present(client: Client) -> list[str]:
    """Return the stacks of an earlier verification that are there."""
    return [name for name in (EPHEMERAL_STACK, DATA) if _exists(client("cloudformation"), name)]


def remove(client: Client) -> list[str]:
    """Delete both stacks, whatever their state, and all that they hold; return what is left."""
    clusters = _physical_ids(client, EPHEMERAL_STACK, "AWS::ECS::Cluster")
    for name in (EPHEMERAL_STACK, DATA):
        if _exists(client("cloudformation"), name):
            _empty(client, name)
            client("cloudformation").delete_stack(StackName=name)
            client("cloudformation").get_waiter("stack_delete_complete").wait(StackName=name)
    for cluster in clusters:
        # Container Insights makes this group by itself; its last events come after the tasks.
        _delete_group(client("logs"), f"/aws/ecs/containerinsights/{cluster}/performance")
    return [*present(client), *_groups(client("logs"))]


def _synthesise(assembly: Path, context: Sequence[str]) -> None:
    settings = [f"stackName={EPHEMERAL_STACK}", "ephemeral=true", *context]
    options = [word for setting in settings for word in ("--context", setting)]
    _cdk("synth", "--quiet", "--output", str(assembly), *options)


def _change(cloudformation: Any, assembly: Path, name: str, done: str) -> list[dict[str, Any]]:
    """Make a change set, in which CloudFormation checks the template, and execute it.

    Return the resource changes that it lists; ``done`` is the waiter for their end.
    """
    planned = ["--method", "prepare-change-set", "--change-set-name", _CHANGE_SET]
    options = ["--exclusively", "--require-approval", "never", "--no-notices"]
    _cdk("deploy", name, "--app", str(assembly), *planned, *options)
    change_set = {"StackName": name, "ChangeSetName": _CHANGE_SET}
    pages = cloudformation.get_paginator("describe_change_set").paginate(**change_set)
    changes = [change["ResourceChange"] for page in pages for change in page["Changes"]]
    cloudformation.execute_change_set(**change_set)
    cloudformation.get_waiter(done).wait(StackName=name)
    return changes


def _cdk(*words: str) -> None:
    environment = {**os.environ, "CDK_DISABLE_CLI_TELEMETRY": "true"}
    if subprocess.run([_CDK, *words], cwd=ROOT, env=environment, check=False).returncode:
        raise CommandFailed(f"cdk {words[0]} failed")


def _exists(cloudformation: Any, name: str) -> bool:
    try:
        cloudformation.describe_stacks(StackName=name)
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return False
        raise
    return True


def _physical_ids(client: Client, name: str, kind: str) -> list[str]:
    """Return the names of the resources of a type that a stack has, whatever its state."""
    if not _exists(client("cloudformation"), name):
        return []
    return [
        resource["PhysicalResourceId"]
        for resource in _resources(client("cloudformation"), name)
        if resource["ResourceType"] == kind and "PhysicalResourceId" in resource
    ]


def _ids(cloudformation: Any) -> dict[str, str]:
    return {
        resource["LogicalResourceId"]: resource.get("PhysicalResourceId", "")
        for resource in _resources(cloudformation, EPHEMERAL_STACK)
    }


def _resources(cloudformation: Any, name: str) -> Iterator[dict[str, Any]]:
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
    return (resource for page in pages for resource in page["StackResourceSummaries"])


def _empty(client: Client, name: str) -> None:
    """Stop what runs in a stack, and delete the objects of its buckets in all versions."""
    states, ecs, s3 = client("stepfunctions"), client("ecs"), client("s3")
    for machine in _physical_ids(client, name, "AWS::StepFunctions::StateMachine"):
        running = states.list_executions(stateMachineArn=machine, statusFilter="RUNNING")
        for execution in running["executions"]:
            states.stop_execution(executionArn=execution["executionArn"], cause=_CAUSE)
    for cluster in _physical_ids(client, name, "AWS::ECS::Cluster"):
        for task in ecs.list_tasks(cluster=cluster)["taskArns"]:
            ecs.stop_task(cluster=cluster, task=task, reason=_CAUSE)
        if left := ecs.list_tasks(cluster=cluster)["taskArns"]:
            ecs.get_waiter("tasks_stopped").wait(cluster=cluster, tasks=left)
    for bucket in _physical_ids(client, name, "AWS::S3::Bucket"):
        for objects in _versions(s3, bucket):
            s3.delete_objects(Bucket=bucket, Delete={"Objects": objects, "Quiet": True})


def _versions(s3: Any, bucket: str) -> Iterator[list[dict[str, str]]]:
    """Yield the versions of a bucket's objects, and the marks of deleted objects, in groups."""
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        found = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
        if found:
            yield [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in found]


def _groups(logs: Any) -> list[str]:
    """Return the log groups of the verification, which has its name in each."""
    pages = logs.get_paginator("describe_log_groups").paginate()
    names = [group["logGroupName"] for page in pages for group in page["logGroups"]]
    return [f"log group {name}" for name in names if EPHEMERAL_STACK in name]


def _delete_group(logs: Any, name: str) -> None:
    try:
        logs.delete_log_group(logGroupName=name)
    except logs.exceptions.ResourceNotFoundException:
        return
