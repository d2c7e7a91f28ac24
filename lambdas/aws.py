"""Every AWS call that the Lambdas make: the results bucket and Logs Insights."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import boto3

if TYPE_CHECKING:
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_s3 import S3Client

# What one StartQuery may return; a result of this length may have been cut.
MOST_ROWS = 10_000
_UNFINISHED = {"Scheduled", "Running", "Unknown"}
_FIRST_POLL_SECONDS = 0.05
_SLOWEST_POLL_SECONDS = 1.0


# A function may run for 240 s and has up to three queries to read.
_LONGEST_QUERY_SECONDS = 60


class QueryFailed(RuntimeError):
    """A log query that ended without a result; says which and how. It may be tried again."""


class TooManyRows(RuntimeError):
    """A log query that may have more rows than one answer holds."""


@dataclass(frozen=True)
class Answer:
    """What a log query gave."""

    rows: list[dict[str, str]]
    """Absent fields left out."""
    bytes_scanned: int


class Bucket:
    """The results bucket."""

    def __init__(self, client: S3Client, name: str) -> None:
        self._client = client
        self._name = name

    def read(self, key: str) -> bytes:
        """Return the object's body; NoSuchKey if there is none."""
        return self._client.get_object(Bucket=self._name, Key=key)["Body"].read()

    def find(self, key: str) -> bytes | None:
        """Return the object's body, None if there is none."""
        try:
            return self.read(key)
        except self._client.exceptions.ClientError:
            # To a role that may list only a part of the bucket S3 says AccessDenied, not NoSuchKey.
            if key in self.keys(key):
                raise
            return None

    def write(self, key: str, body: bytes) -> None:
        """Store an object, in place of what was there."""
        self._client.put_object(Bucket=self._name, Key=key, Body=body)

    def write_once(self, key: str, body: bytes) -> bool:
        """Store an object unless there is one already; tell whether it was stored."""
        try:
            self._client.put_object(Bucket=self._name, Key=key, Body=body, IfNoneMatch="*")
        except self._client.exceptions.ClientError as error:
            if error.response["Error"]["Code"] == "PreconditionFailed":
                return False
            raise
        return True

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in order."""
        pages = self._client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._name, Prefix=prefix):
            for entry in page.get("Contents", []):
                yield entry["Key"]

    def delete(self, prefix: str) -> None:
        """Delete every object whose key begins with ``prefix``."""
        for key in list(self.keys(prefix)):
            self._client.delete_object(Bucket=self._name, Key=key)


class LogQueries:
    """Logs Insights."""

    def __init__(self, client: CloudWatchLogsClient) -> None:
        self._client = client

    def run(self, query: str, log_group: str, start: float, end: float) -> Answer:
        """Return the answer to a query over [start, end], epoch seconds.

        Raises
        ------
        QueryFailed
            If the query does not end as Complete, or not in time.
        TooManyRows
            If it may have more rows than it returned.

        """
        started = self._client.start_query(
            logGroupName=log_group,
            startTime=int(start),
            endTime=int(end) + 1,
            queryString=query,
            limit=MOST_ROWS,
        )
        pause = _FIRST_POLL_SECONDS
        deadline = time.monotonic() + _LONGEST_QUERY_SECONDS
        while True:
            answer = self._client.get_query_results(queryId=started["queryId"])
            status = answer["status"]
            if status == "Complete":
                break
            # Running answers hold some of the rows: only Complete may be read.
            if status not in _UNFINISHED or time.monotonic() > deadline:
                raise QueryFailed(f"the query over {log_group} ended as {status}: {query}")
            time.sleep(pause)
            pause = min(2 * pause, _SLOWEST_POLL_SECONDS)
        rows = [{cell["field"]: cell["value"] for cell in row} for row in answer["results"]]
        if len(rows) >= MOST_ROWS:
            raise TooManyRows(
                f"the query over {log_group} has {MOST_ROWS} rows or more, so some may be missing"
            )
        return Answer(rows, int(answer["statistics"]["bytesScanned"]))


@lru_cache(maxsize=1)
def bucket() -> Bucket:
    """Return the results bucket that the function was given as ``BUCKET``."""
    return Bucket(boto3.client("s3"), os.environ["BUCKET"])


@lru_cache(maxsize=1)
def log_queries() -> LogQueries:
    """Return Logs Insights of the function's own region."""
    return LogQueries(boto3.client("logs"))
