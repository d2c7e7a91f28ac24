"""The services that functions need, and the variables that their stack gives them.

Each adapter is imported where it is made: most functions need few of them, and each import delays
a cold start.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from botocore.session import Session

from aws.bucket import S3Bucket

if TYPE_CHECKING:
    from tidemark.money.capacity import Quotas
    from tidemark.run.end_run import Ending
    from tidemark.run.ports import (
        Account,
        Backlog,
        EventBus,
        Executions,
        LogQueries,
        Metrics,
        Properties,
        Releases,
        Rules,
        Schedules,
        TaskDefinitions,
        Tasks,
        Topic,
    )
    from tidemark.run.run_outcome import Listeners
    from tidemark.store.bucket import Bucket, CopyingBucket
    from tidemark.store.stored_run import StoredRun


@cache
def _session() -> Session:
    # boto3 would also import s3transfer, which costs a cold start 100 ms and no function uses.
    return Session()


def _client(service: str) -> Any:  # noqa: ANN401 (botocore makes its clients at run time)
    return _session().create_client(service)


def on_one_machine() -> bool:
    """Tell whether the functions run in the one-machine cloud."""
    # AWS SDKs and Tools Reference, "Service-specific endpoints": AWS itself does not set it.
    return "AWS_ENDPOINT_URL" in os.environ


def bucket_name() -> str:
    """Return the name of the results bucket."""
    return os.environ["BUCKET"]


def logs_deadline_seconds() -> float:
    """Return the longest wait for the logs of a test after its tasks have ended [s]."""
    return float(os.environ["LOGS_DEADLINE_SECONDS"])


def watched_schedules() -> Mapping[str, str]:
    """Return the name of each suite's schedule, for the search for missed schedules."""
    schedules: Mapping[str, str] = json.loads(os.environ.get("SCHEDULES", "{}"))
    return schedules


@cache
def bucket() -> CopyingBucket:
    """Return the results bucket."""
    return S3Bucket(_client("s3"), bucket_name())


@cache
def log_queries() -> LogQueries:
    """Return Logs Insights."""
    from aws.log_queries import InsightsQueries

    return InsightsQueries(_client("logs"))


@cache
def executions() -> Executions:
    """Return the executions of state machines."""
    from aws.executions import StepFunctionsExecutions

    return StepFunctionsExecutions(_client("stepfunctions"))


@cache
def tasks() -> Tasks:
    """Return the tasks of the cluster."""
    from aws.ecs import EcsTasks

    return EcsTasks(_client("ecs"), os.environ["CLUSTER"])


@cache
def task_definitions() -> TaskDefinitions:
    """Return the task definitions of images."""
    from aws.ecs import EcsTaskDefinitions

    return EcsTaskDefinitions(_client("ecs"))


@cache
def clusters() -> Backlog:
    """Return the clusters of the account."""
    from aws.ecs import EcsClusters

    return EcsClusters(_client("ecs"))


@cache
def bus() -> EventBus:
    """Return the default event bus."""
    from aws.announcements import DefaultEventBus

    return DefaultEventBus(_client("events"))


@cache
def topic() -> Topic:
    """Return the topic of outcomes."""
    from aws.announcements import SnsTopic

    return SnsTopic(_client("sns"), os.environ["TOPIC"])


def listeners() -> Listeners:
    """Return the topic, bus and metric of the stack, with links to its bucket."""
    from tidemark.run.run_outcome import Listeners

    in_console = not on_one_machine()  # which has no console
    return Listeners(topic(), bus(), metrics(), bucket_name(), os.environ["AWS_REGION"], in_console)


def ending() -> Ending:
    """Return the ending of dead runs."""
    from tidemark.run.end_run import Ending

    machine = os.environ["TRIAL_STATE_MACHINE"]
    return Ending(bucket(), executions(), tasks(), rules(), listeners(), machine, _publish)


def _publish(bucket: Bucket, run_id: str) -> StoredRun:
    # Most ends have no figures to write.
    from tidemark.report.run_report.publishing import write_report
    from tidemark.run.record_rates import write_rates
    from tidemark.store.stored_run import fold

    def write(run: StoredRun) -> StoredRun:
        write_rates(bucket, run)
        write_report(bucket, run)
        return run

    return fold(bucket, run_id, write)


@cache
def metrics() -> Metrics:
    """Return the stack's CloudWatch metrics."""
    from aws.announcements import EmbeddedMetrics

    return EmbeddedMetrics(os.environ["STACK"])


@cache
def releases() -> Releases:
    """Return the versions that release pipelines have announced to the stack."""
    from aws.look_ups import ParameterReleases

    return ParameterReleases(_client("ssm"), os.environ["STACK"])


@cache
def properties() -> Properties:
    """Return the properties of instances that exist."""
    from aws.look_ups import S3Properties

    return S3Properties(_client("s3"))


@cache
def account() -> Account:
    """Return the things of the account, by their names."""
    from aws.look_ups import NamedThings

    return NamedThings(_client)


@cache
def quotas() -> Quotas:
    """Return the quotas of the account and region."""
    from aws.look_ups import AppliedQuotas

    return AppliedQuotas(_client("service-quotas"))


@cache
def queues() -> Backlog:
    """Return the queues of the account."""
    from aws.look_ups import SqsQueues

    return SqsQueues(_client("sqs"))


@cache
def rules() -> Rules:
    """Return the rules of the default event bus."""
    from aws.executions import EventBridgeRules

    return EventBridgeRules(_client("events"))


@cache
def schedules() -> Schedules:
    """Return the schedules of EventBridge Scheduler."""
    from aws.executions import SchedulerSchedules

    return SchedulerSchedules(_client("scheduler"))
