"""The app in an AWS account: that of the usual credentials, profile and region."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import click
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
)

from local.deployed import Deployed
from local.stack import DeploymentFailed, Stack, find_stack

# Of DescribeExecution an account has 10 to 15 a second, for all of its programs.
# AWS documentation, Step Functions, "Service quotas": API action throttling.
_POLL_SECONDS = 2.0
_RETRIES = Config(retries={"mode": "standard", "total_max_attempts": 5})
# AWS documentation, "AWS Management Console endpoints", "AWS GovCloud", "China".
_CONSOLES = {
    "aws": "console.aws.amazon.com",
    "aws-us-gov": "console.amazonaws-us-gov.com",
    "aws-cn": "console.amazonaws.cn",
}


@contextmanager
def in_account(name: str) -> Iterator[Deployed]:
    """Have the stack ``name`` of the account; what prevents it is one sentence, exit code 1."""
    with _told_in_one_sentence():
        # boto3 reads AWS_DEFAULT_REGION only, the CDK's command line this one.
        session: Any = boto3.Session(region_name=os.environ.get("AWS_REGION"))
        cloudformation = session.client("cloudformation", config=_RETRIES)
        try:
            stack = find_stack(cloudformation, name)
        except ClientError as error:
            if "does not exist" not in error.response["Error"]["Message"]:
                raise
            raise click.ClickException(
                f"--stack: there is no stack {name!r} in {cloudformation.meta.region_name} of this "
                "account; `make deploy` makes it"
            ) from None
        if "StateMachine" not in stack.outputs:
            raise click.ClickException(f"--stack: {name!r} is a stack of something else")
        yield Deployed(
            lambda service: session.client(service, config=_RETRIES), stack, _POLL_SECONDS
        )


def place(stack: Stack) -> str:
    """Return where a stack is: ``Tidemark in us-east-1 of account 123456789012``."""
    _, _, _, region, account, resource = stack.arn.split(":", 5)
    return f"{resource.split('/')[1]} in {region} of account {account}"


def console_link(execution_arn: str) -> str | None:
    """Return where the Step Functions console shows an execution; None if that is not known."""
    _, partition, _, region, *_ = execution_arn.split(":")
    if partition not in _CONSOLES:
        return None
    page = f"https://{region}.{_CONSOLES[partition]}/states/home?region={region}"
    return f"{page}#/v2/executions/details/{execution_arn}"


@contextmanager
def _told_in_one_sentence() -> Iterator[None]:
    try:
        yield
    except NoRegionError:
        raise click.ClickException(
            "--aws: no region is set; AWS_REGION or the profile's configuration may name one"
        ) from None
    except NoCredentialsError:
        raise click.ClickException(
            "--aws: there are no AWS credentials; `aws configure` or `aws sso login` makes some"
        ) from None
    except ClientError as error:
        said = error.response["Error"]
        raise click.ClickException(
            f"--aws: {error.operation_name} was refused: {said['Code']}: {said['Message']}"
        ) from None
    # A profile that is not there, a session that has expired, nobody who answers.
    except (BotoCoreError, DeploymentFailed) as error:
        raise click.ClickException(f"--aws: {error}") from None
