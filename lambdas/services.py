"""The adapters of a function, over boto3 clients of its region."""

from __future__ import annotations

from functools import lru_cache

import boto3

from aws.announcements import DefaultEventBus, SnsTopic
from aws.bucket import S3Bucket
from aws.executions import StepFunctionsExecutions
from aws.log_queries import InsightsQueries
from aws.metrics import EmbeddedMetrics
from aws.quotas import AppliedQuotas
from aws.releases import ParameterReleases
from aws.schedules import SchedulerSchedules
from aws.tasks import EcsTasks
from lambdas.environment import EndingEnvironment, Environment
from tidemark.money.quotas import Quotas
from tidemark.run.ports import (
    EventBus,
    Executions,
    LogQueries,
    Metrics,
    Releases,
    Schedules,
    Tasks,
    Topic,
)
from tidemark.store.bucket import Bucket


@lru_cache(maxsize=1)
def bucket() -> Bucket:
    """Return the results bucket."""
    return S3Bucket(boto3.client("s3"), Environment.read().bucket)


@lru_cache(maxsize=1)
def log_queries() -> LogQueries:
    """Return Logs Insights."""
    return InsightsQueries(boto3.client("logs"))


@lru_cache(maxsize=1)
def executions() -> Executions:
    """Return the executions of state machines."""
    return StepFunctionsExecutions(boto3.client("stepfunctions"))


@lru_cache(maxsize=1)
def tasks() -> Tasks:
    """Return the tasks of the cluster."""
    return EcsTasks(boto3.client("ecs"), EndingEnvironment.read().cluster)


@lru_cache(maxsize=1)
def bus() -> EventBus:
    """Return the default event bus."""
    return DefaultEventBus(boto3.client("events"))


@lru_cache(maxsize=1)
def topic() -> Topic:
    """Return the topic of outcomes."""
    return SnsTopic(boto3.client("sns"), Environment.read().topic)


@lru_cache(maxsize=1)
def releases() -> Releases:
    """Return the versions that release pipelines have announced to the stack."""
    return ParameterReleases(boto3.client("ssm"), Environment.read().stack)


@lru_cache(maxsize=1)
def quotas() -> Quotas:
    """Return the quotas of the account and region."""
    return AppliedQuotas(boto3.client("service-quotas"))


@lru_cache(maxsize=1)
def schedules() -> Schedules:
    """Return the schedules of EventBridge Scheduler."""
    return SchedulerSchedules(boto3.client("scheduler"))


@lru_cache(maxsize=1)
def metrics() -> Metrics:
    """Return the stack's CloudWatch metrics."""
    return EmbeddedMetrics(Environment.read().stack)
