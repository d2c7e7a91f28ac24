"""Access to an AWS account, and names of its resources."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from tidemark.client.deployed import Deployed
from tidemark.client.stack import Stack

# AWS documentation, "AWS Management Console endpoints", "AWS GovCloud", "China".
_CONSOLES = {
    "aws": "console.aws.amazon.com",
    "aws-us-gov": "console.amazonaws-us-gov.com",
    "aws-cn": "console.amazonaws.cn",
}


@contextmanager
def in_account(name: str) -> Iterator[Deployed]:
    """Yield the stack ``name`` of the account; a failure is one sentence with exit code 1."""
    # The import of boto3 takes half a second, which only a command with --aws needs.
    from aws.client import AccountFailed, account  # noqa: PLC0415

    try:
        with account.in_account(name) as stack:
            yield stack
    except AccountFailed as error:
        raise click.ClickException(str(error)) from None


def place(stack: Stack) -> str:
    """Return the place of a stack: ``Tidemark in us-east-1 of account 123456789012``."""
    _, _, _, region, account, resource = stack.arn.split(":", 5)
    return f"{resource.split('/')[1]} in {region} of account {account}"


def console_link(execution_arn: str) -> str | None:
    """Return the link to an execution in the Step Functions console, None if it is unknown."""
    _, partition, _, region, *_ = execution_arn.split(":")
    if partition not in _CONSOLES:
        return None
    page = f"https://{region}.{_CONSOLES[partition]}/states/home?region={region}"
    return f"{page}#/v2/executions/details/{execution_arn}"
