"""A stack in the AWS account of the usual credentials, profile and region."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from aws.client import AccountFailed, in_one_sentence
from aws.client.deployed import deployed_stack
from tidemark.client.deployed import Deployed, DeploymentFailed, Stack

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient


# AWS documentation, "Understand CloudFormation stack creation events": the states of a whole stack.
_WHOLE = {
    "CREATE_COMPLETE",
    "UPDATE_COMPLETE",
    "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
    "UPDATE_ROLLBACK_COMPLETE",
    "IMPORT_COMPLETE",
}


def find_stack(cloudformation: CloudFormationClient, name: str) -> Stack:
    """Return a stack by its name or ARN.

    Raises
    ------
    DeploymentFailed
        If the stack is being created, changed or deleted, or if that failed.
    botocore.exceptions.ClientError
        If the account has no stack of this name.

    """
    (stack,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    if stack["StackStatus"] not in _WHOLE:
        raise DeploymentFailed(f"stack {name} is {stack['StackStatus']}")
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", ())}
    return Stack(stack["StackId"], outputs)


# Step Functions developer guide, "Service quotas": all programs of an account share 10 to 15
# DescribeExecution per second.
_POLL_SECONDS = 2.0
_RETRIES = Config(retries={"mode": "standard", "total_max_attempts": 5})
# boto3 repeats an invocation without an answer within 60 s, beside the first one, which still runs:
# wait longer than any function that a client invokes may run (240 s).
_INVOCATIONS = _RETRIES.merge(Config(read_timeout=300, tcp_keepalive=True))


@contextmanager
def in_account(name: str) -> Iterator[Deployed]:
    """Yield the stack ``name`` of the account.

    Raises
    ------
    AccountFailed
        If the account or the stack in it cannot be used.

    """
    with in_one_sentence("--aws"), _deployment_in_one_sentence():
        # boto3 reads only AWS_DEFAULT_REGION, but the CDK's command line reads AWS_REGION.
        session: Any = boto3.Session(region_name=os.environ.get("AWS_REGION"))
        cloudformation = session.client("cloudformation", config=_RETRIES)
        try:
            stack = find_stack(cloudformation, name)
        except ClientError as error:
            if "does not exist" not in error.response["Error"]["Message"]:
                raise
            raise AccountFailed(
                f"--stack: there is no stack {name!r} in {cloudformation.meta.region_name} of this "
                "account; `make deploy` makes it"
            ) from None
        if "StateMachine" not in stack.outputs:
            raise AccountFailed(f"--stack: {name!r} is not a stack of Tidemark")

        def client(service: str) -> Any:  # noqa: ANN401 (boto3 makes its clients at run time)
            config = _INVOCATIONS if service == "lambda" else _RETRIES
            return session.client(service, config=config)

        yield deployed_stack(client, stack, _POLL_SECONDS)


@contextmanager
def _deployment_in_one_sentence() -> Iterator[None]:
    try:
        yield
    except DeploymentFailed as error:
        raise AccountFailed(f"--aws: {error}") from None
