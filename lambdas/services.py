"""The adapters of a function, over boto3 clients of its region."""

from __future__ import annotations

from functools import cache
from typing import Any

from botocore.session import Session

from aws.announcements import DefaultEventBus, SnsTopic
from aws.bucket import S3Bucket
from aws.executions import StepFunctionsExecutions
from aws.log_queries import InsightsQueries
from aws.metrics import EmbeddedMetrics
from aws.quotas import AppliedQuotas
from aws.releases import ParameterReleases
from aws.schedules import SchedulerSchedules
from aws.task_definitions import EcsTaskDefinitions
from aws.tasks import EcsTasks
from lambdas.environment import Environment
from tidemark.money.quotas import Quotas
from tidemark.run.ports import (
    EventBus,
    Executions,
    LogQueries,
    Metrics,
    Releases,
    Schedules,
    TaskDefinitions,
    Tasks,
    Topic,
)
from tidemark.store.bucket import CopyingBucket


@cache
def _session() -> Session:
    # boto3 would also import s3transfer, which costs a cold start 100 ms and no function uses.
    return Session()


def _client(service: str) -> Any:  # noqa: ANN401 (botocore makes its clients at run time)
    return _session().create_client(service)


def on_one_machine() -> bool:
    """Tell whether the functions run in the one-machine cloud."""
    return Environment().endpoint_url is not None


@cache
def bucket() -> CopyingBucket:
    """Return the results bucket."""
    return S3Bucket(_client("s3"), Environment().bucket)


@cache
def log_queries() -> LogQueries:
    """Return Logs Insights."""
    return InsightsQueries(_client("logs"))


@cache
def executions() -> Executions:
    """Return the executions of state machines."""
    return StepFunctionsExecutions(_client("stepfunctions"))


@cache
def tasks() -> Tasks:
    """Return the tasks of the cluster."""
    return EcsTasks(_client("ecs"), Environment().cluster)


@cache
def task_definitions() -> TaskDefinitions:
    """Return the task definitions of images."""
    return EcsTaskDefinitions(_client("ecs"))


@cache
def bus() -> EventBus:
    """Return the default event bus."""
    return DefaultEventBus(_client("events"))


@cache
def topic() -> Topic:
    """Return the topic of outcomes."""
    return SnsTopic(_client("sns"), Environment().topic)


@cache
def releases() -> Releases:
    """Return the versions that release pipelines have announced to the stack."""
    return ParameterReleases(_client("ssm"), Environment().stack)


@cache
def quotas() -> Quotas:
    """Return the quotas of the account and region."""
    return AppliedQuotas(_client("service-quotas"))


@cache
def schedules() -> Schedules:
    """Return the schedules of EventBridge Scheduler."""
    return SchedulerSchedules(_client("scheduler"))


@cache
def metrics() -> Metrics:
    """Return the stack's CloudWatch metrics."""
    return EmbeddedMetrics(Environment().stack)
