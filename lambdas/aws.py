"""Every AWS call that the Lambdas make."""

from __future__ import annotations

import mimetypes
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from lambdas.failure import shortened
from suites.quotas import Quota
from suites.versions import versions_parameter

if TYPE_CHECKING:
    from mypy_boto3_ecs import ECSClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import PaginatorConfigTypeDef
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_service_quotas import ServiceQuotasClient
    from mypy_boto3_service_quotas.type_defs import ServiceQuotaTypeDef
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_stepfunctions import SFNClient

# What a service that refuses, or does not answer, raises.
SERVICE_FAULTS = (BotoCoreError, ClientError)
# What one StartQuery may return; a result of this length may have been cut.
MOST_ROWS = 10_000
_UNFINISHED = {"Scheduled", "Running", "Unknown"}
_FIRST_POLL_SECONDS = 0.05
_SLOWEST_POLL_SECONDS = 1.0
_LONGEST_QUERY_SHOWN = 200  # bytes
# Amazon S3 user guide, conditional requests: of writers at the same moment one may be told to try
# again.
_CONFLICT_ATTEMPTS = 5
# Amazon S3 API reference, ListObjectsV2 and DeleteObjects: the keys of one request.
_MOST_LISTED = 1_000
_MOST_DELETED = 1_000
# What StopTask takes for a reason, in characters.
_LONGEST_STOP = 1024
# AWS Step Functions API reference, StopExecution: the cause, in characters.
_LONGEST_CAUSE = 32_768


class _Expected(TypedDict, total=False):
    IfMatch: str
    IfNoneMatch: str


class Tagged(NamedTuple):
    """An object's body and the entity tag that tells it from what may replace it."""

    body: bytes
    etag: str


class QueryFailed(RuntimeError):
    """A log query that ended without a result; says which and how. It may be tried again."""


class NotDeleted(RuntimeError):
    """Objects that S3 did not delete, though it was asked to. It may be asked again."""


class NotTold(RuntimeError):
    """An outcome that a topic or event bus did not take; says why. It may be told again."""


class QuotaUnknown(RuntimeError):
    """A quota that Service Quotas does not tell: whether a run fits is not known."""


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

    def find(self, key: str) -> Tagged | None:
        """Return the object as it is, None if there is none."""
        # Who may list some prefixes only is told AccessDenied, not NoSuchKey, of what is not there.
        if key not in self.keys(key):
            return None
        try:
            found = self._client.get_object(Bucket=self._name, Key=key)
        except self._client.exceptions.NoSuchKey:
            return None
        return Tagged(found["Body"].read(), found["ETag"])

    def write(self, key: str, body: bytes) -> None:
        """Store an object, in place of what was there."""
        # A browser shows what it knows the type of, and saves the rest.
        kind = mimetypes.guess_type(key)[0] or "binary/octet-stream"
        self._client.put_object(Bucket=self._name, Key=key, Body=body, ContentType=kind)

    def write_once(self, key: str, body: bytes) -> bool:
        """Store an object unless there is one already; tell whether it was stored."""
        return self.write_over(key, body, None)

    def write_over(self, key: str, body: bytes, etag: str | None) -> bool:
        """Store an object in place of that of an entity tag, None for no object; tell whether.

        Nothing is stored if there is another one by now.
        """
        there: _Expected = {"IfMatch": etag} if etag else {"IfNoneMatch": "*"}
        for attempt in range(1, _CONFLICT_ATTEMPTS + 1):
            try:
                self._client.put_object(Bucket=self._name, Key=key, Body=body, **there)
            except self._client.exceptions.ClientError as error:
                code = error.response["Error"]["Code"]
                # S3 answers the second where the object to be replaced is gone.
                if code in {"PreconditionFailed", "NoSuchKey"}:
                    return False
                if code != "ConditionalRequestConflict" or attempt == _CONFLICT_ATTEMPTS:
                    raise
            else:
                break
        return True

    def keys(self, prefix: str, at_once: int = _MOST_LISTED) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in order; each request is for some at once."""
        pages = self._client.get_paginator("list_objects_v2")
        size: PaginatorConfigTypeDef = {"PageSize": at_once}
        for page in pages.paginate(Bucket=self._name, Prefix=prefix, PaginationConfig=size):
            for entry in page.get("Contents", []):
                yield entry["Key"]

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the names of the folders in the one that ``prefix`` is, whatever they hold."""
        pages = self._client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._name, Prefix=prefix, Delimiter="/"):
            for folder in page.get("CommonPrefixes", []):
                yield folder["Prefix"][len(prefix) : -1]

    def discard(self, key: str) -> None:
        """Delete an object, if there is one."""
        self._client.delete_object(Bucket=self._name, Key=key)

    def delete(self, prefix: str) -> None:
        """Delete every object whose key begins with ``prefix``.

        Raises
        ------
        NotDeleted
            If S3 deleted some of them only; says which it did not, and why.

        """
        found = self.keys(prefix)
        while batch := list(islice(found, _MOST_DELETED)):
            answer = self._client.delete_objects(
                Bucket=self._name,
                Delete={"Objects": [{"Key": key} for key in batch], "Quiet": True},
            )
            # The request as a whole succeeds whatever becomes of its objects.
            if errors := answer.get("Errors"):
                first = errors[0]
                raise NotDeleted(
                    f"{len(errors)} of {len(batch)} objects of {prefix} were not deleted; "
                    f"the first is {first.get('Key')}: {first.get('Code')}: {first.get('Message')}"
                )

    def delete_if(self, key: str, etag: str) -> bool:
        """Delete an object if it is still the one of this entity tag; tell whether it was."""
        try:
            self._client.delete_object(Bucket=self._name, Key=key, IfMatch=etag)
        except self._client.exceptions.ClientError as error:
            # S3 answers the second where the object is gone altogether.
            if error.response["Error"]["Code"] in {"PreconditionFailed", "NoSuchKey"}:
                return False
            raise
        return True


class Executions:
    """Executions of state machines."""

    def __init__(self, client: SFNClient) -> None:
        self._client = client

    def describe(self, arn: str) -> Mapping[str, Any] | None:
        """Return an execution as DescribeExecution gives it, None if there is none."""
        try:
            return self._client.describe_execution(executionArn=arn)
        except self._client.exceptions.ExecutionDoesNotExist:
            return None

    def running(self, machine: str) -> Iterator[tuple[str, str]]:
        """Yield the name and ARN of each running execution of a state machine, by its ARN."""
        pages = self._client.get_paginator("list_executions")
        for page in pages.paginate(stateMachineArn=machine, statusFilter="RUNNING"):
            for execution in page["executions"]:
                yield execution["name"], execution["executionArn"]

    def stop(self, arn: str, cause: str) -> None:
        """Stop an execution."""
        # A cause that quotes that of another execution, which may have this length, is longer.
        self._client.stop_execution(
            executionArn=arn, error="Run.ended", cause=cause[:_LONGEST_CAUSE]
        )


class Tasks:
    """The ECS tasks of one cluster."""

    def __init__(self, client: ECSClient, cluster: str) -> None:
        self._client = client
        self._cluster = cluster

    def groups(self) -> dict[str, str]:
        """Return the task group of each task that runs, by the task's ARN."""
        found: dict[str, str] = {}
        # A page holds up to 100 ARNs, as many as DescribeTasks takes.
        for page in self._client.get_paginator("list_tasks").paginate(cluster=self._cluster):
            if page["taskArns"]:
                answer = self._client.describe_tasks(cluster=self._cluster, tasks=page["taskArns"])
                found |= {task["taskArn"]: task.get("group", "") for task in answer["tasks"]}
        return found

    def stop(self, arn: str, reason: str) -> None:
        """Stop a task."""
        self._client.stop_task(cluster=self._cluster, task=arn, reason=reason[:_LONGEST_STOP])


class Topic:
    """Whoever wants to know how runs end."""

    def __init__(self, client: SNSClient, arn: str) -> None:
        self._client = client
        self._arn = arn

    def publish(self, subject: str, message: str) -> None:
        """Tell them; NotTold if the topic does not take it."""
        try:
            self._client.publish(TopicArn=self._arn, Subject=subject, Message=message)
        except (BotoCoreError, ClientError) as error:
            raise NotTold(f"the topic was not told: {error}") from error


class EventBus:
    """The account's default event bus."""

    def __init__(self, client: EventBridgeClient) -> None:
        self._client = client

    def put(self, source: str, kind: str, detail: str) -> None:
        """Put an event with a detail in JSON; NotTold if the bus does not take it."""
        entry: Any = {"Source": source, "DetailType": kind, "Detail": detail}
        try:
            answer = self._client.put_events(Entries=[entry])
        except (BotoCoreError, ClientError) as error:
            raise NotTold(f"the event bus was not told: {error}") from error
        # An entry that was not taken is part of an answer, not an error.
        if answer["FailedEntryCount"]:
            (failed,) = answer["Entries"]
            said = f"{failed.get('ErrorCode')}: {failed.get('ErrorMessage')}"
            raise NotTold(f"the event bus was not told: {said}")


class Schedules:
    """Schedules of EventBridge Scheduler."""

    def __init__(self, client: EventBridgeSchedulerClient) -> None:
        self._client = client

    def describe(self, name: str) -> Mapping[str, Any] | None:
        """Return a schedule as GetSchedule gives it, None if there is none."""
        try:
            return self._client.get_schedule(Name=name)
        except self._client.exceptions.ResourceNotFoundException:
            return None


class Releases:
    """What release pipelines tell of the versions of suites."""

    def __init__(self, client: SSMClient, stack: str) -> None:
        self._client = client
        self._stack = stack

    def versions(self, suite: str) -> list[str]:
        """Return the versions that a suite's parameter lists, none if there is no parameter."""
        name = versions_parameter(self._stack, suite)
        try:
            found = self._client.get_parameter(Name=name)
        except self._client.exceptions.ParameterNotFound:
            return []
        return [version.strip() for version in found["Parameter"]["Value"].split(",")]


class Quotas:
    """Service Quotas of the account and region."""

    def __init__(self, client: ServiceQuotasClient) -> None:
        self._client = client

    def value(self, quota: Quota) -> float:
        """Return the value of a quota that is applied to the account, or else AWS's default.

        Raises
        ------
        QuotaUnknown
            If the service does not tell it.

        """
        try:
            found = self._found(quota)
        except self._client.exceptions.ClientError as error:
            raise QuotaUnknown(f"the quota {quota.name!r} cannot be read: {error}") from None
        # A quota that could not be worked out has an ErrorReason in place of a value.
        if "Value" not in found:
            raise QuotaUnknown(f"the quota {quota.name!r} has no value: {found.get('ErrorReason')}")
        return found["Value"]

    def _found(self, quota: Quota) -> ServiceQuotaTypeDef:
        service, code = quota.service, quota.code
        try:
            return self._client.get_service_quota(ServiceCode=service, QuotaCode=code)["Quota"]
        # Service Quotas API reference, ListServiceQuotas: some quotas have no applied value, only
        # a default.
        except self._client.exceptions.NoSuchResourceException:
            return self._client.get_aws_default_service_quota(ServiceCode=service, QuotaCode=code)[
                "Quota"
            ]


class LogQueries:
    """Logs Insights."""

    def __init__(self, client: CloudWatchLogsClient) -> None:
        self._client = client

    def run(
        self, query: str, log_group: str, start: float, end: float, patience_seconds: float
    ) -> Answer:
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
        deadline = time.monotonic() + patience_seconds
        while True:
            answer = self._client.get_query_results(queryId=started["queryId"])
            status = answer["status"]
            if status == "Complete":
                break
            # Running answers hold some of the rows: only Complete may be read.
            if status not in _UNFINISHED or time.monotonic() > deadline:
                text = shortened(query, _LONGEST_QUERY_SHOWN)
                raise QueryFailed(f"the query over {log_group} ended as {status}: {text}")
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


@lru_cache(maxsize=1)
def executions() -> Executions:
    """Return the executions of the function's own region."""
    return Executions(boto3.client("stepfunctions"))


@lru_cache(maxsize=1)
def tasks() -> Tasks:
    """Return the tasks of the cluster that the function was given as ``CLUSTER``."""
    return Tasks(boto3.client("ecs"), os.environ["CLUSTER"])


@lru_cache(maxsize=1)
def bus() -> EventBus:
    """Return the default event bus of the function's own region."""
    return EventBus(boto3.client("events"))


@lru_cache(maxsize=1)
def topic() -> Topic:
    """Return the topic that the function was given as ``TOPIC``."""
    return Topic(boto3.client("sns"), os.environ["TOPIC"])


@lru_cache(maxsize=1)
def releases() -> Releases:
    """Return what release pipelines tell the stack that the function was given as ``STACK``."""
    return Releases(boto3.client("ssm"), os.environ["STACK"])


@lru_cache(maxsize=1)
def quotas() -> Quotas:
    """Return the quotas of the function's own account and region."""
    return Quotas(boto3.client("service-quotas"))


@lru_cache(maxsize=1)
def schedules() -> Schedules:
    """Return the schedules of the function's own region."""
    return Schedules(boto3.client("scheduler"))
