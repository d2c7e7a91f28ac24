"""The AWS account of the usual credentials, profile and region: a stack of it, and its logs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from aws.client import AccountFailed, in_one_sentence
from aws.client.deployed import deployed_stack
from aws.log_queries import InsightsQueries
from tidemark.client.deployed import Deployed, DeploymentFailed, Stack
from tidemark.run.ports import QueryFailed, TooManyRows

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


OPTION = "--from-aws"
# FilterLogEvents has a quota of 5 to 10 requests per second (AWS documentation, CloudWatch Logs).
_LOG_RETRIES = Config(retries={"mode": "standard", "total_max_attempts": 10})
# Logs Insights ends a query after an hour (AWS documentation, CloudWatch Logs quotas).
_QUERY_SECONDS = 3600
# PutLogEvents refuses older events (AWS documentation, CloudWatch Logs API).
_OLDEST_EVENT_SECONDS = 14 * 86_400


class LogGroup(NamedTuple):
    """A log group of an account."""

    account: str
    region: str
    oldest: int
    """A time before which it has no events [s since 1970-01-01 UTC]."""


class AccountLogs:
    """The log groups of an account."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 (boto3 makes its clients at run time)
        self._client = client

    def group(self, name: str) -> LogGroup:
        """Return a log group; raise AccountFailed without it."""
        pages = self._client.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=name)
        groups = (each for page in pages for each in page["logGroups"])
        found = next((each for each in groups if each["logGroupName"] == name), None)
        if found is None:
            raise AccountFailed(f"{OPTION}: there is no log group {name!r}")
        _, _, _, region, account, _ = found["arn"].split(":", 5)
        return LogGroup(account, region, found["creationTime"] // 1000 - _OLDEST_EVENT_SECONDS)

    def events(self, group: str, first: int, last: int) -> Iterator[Mapping[str, Any]]:
        """Yield the events of a log group between two times [ms], inclusive, as AWS gives them."""
        pages = self._client.get_paginator("filter_log_events").paginate(
            logGroupName=group, startTime=first, endTime=last
        )
        for page in pages:
            yield from page["events"]

    def rows(self, query: str, group: str, start: int, end: int) -> list[dict[str, str]]:
        """Return the rows of a query over a log group from a first to a last second.

        Raises
        ------
        AccountFailed
            If the query fails or has too many rows.
        """
        try:
            # The adapter counts one second more, for times with fractions.
            answer = InsightsQueries(self._client).run(query, group, start, end - 1, _QUERY_SECONDS)
        except (QueryFailed, TooManyRows) as error:
            raise AccountFailed(f"{OPTION}: {error}") from None
        return answer.rows


@contextmanager
def account_logs() -> Iterator[AccountLogs]:
    """Yield the log groups of the account; raise AccountFailed if it cannot be used."""
    with in_one_sentence(OPTION):
        session: Any = boto3.Session(region_name=os.environ.get("AWS_REGION"))
        yield AccountLogs(session.client("logs", config=_LOG_RETRIES))
