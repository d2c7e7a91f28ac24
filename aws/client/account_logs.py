"""CloudWatch Logs in the AWS account of the usual credentials, profile and region."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import boto3
from botocore.config import Config

from aws.client import AccountFailed, in_one_sentence
from aws.log_queries import InsightsQueries
from tidemark.run.ports import QueryFailed, TooManyRows

OPTION = "--from-aws"
# FilterLogEvents has a quota of 5 to 10 requests per second (AWS documentation, CloudWatch Logs).
_RETRIES = Config(retries={"mode": "standard", "total_max_attempts": 10})
# Logs Insights ends a query after an hour (AWS documentation, CloudWatch Logs quotas).
_PATIENCE_SECONDS = 3600
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
            answer = InsightsQueries(self._client).run(
                query, group, start, end - 1, _PATIENCE_SECONDS
            )
        except (QueryFailed, TooManyRows) as error:
            raise AccountFailed(f"{OPTION}: {error}") from None
        return answer.rows


@contextmanager
def account_logs() -> Iterator[AccountLogs]:
    """Yield the log groups of the account; raise AccountFailed if it cannot be used."""
    with in_one_sentence(OPTION):
        session: Any = boto3.Session(region_name=os.environ.get("AWS_REGION"))
        yield AccountLogs(session.client("logs", config=_RETRIES))
