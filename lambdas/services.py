"""The services that a function needs besides the results bucket."""

from __future__ import annotations

from functools import cache

from aws.announcements import DefaultEventBus, SnsTopic
from aws.clusters import EcsClusters
from aws.executions import StepFunctionsExecutions
from aws.instance_properties import S3Properties
from aws.log_queries import InsightsQueries
from aws.metrics import EmbeddedMetrics
from aws.named_things import NamedThings
from aws.queues import SqsQueues
from aws.quotas import AppliedQuotas
from aws.releases import ParameterReleases
from aws.rules import EventBridgeRules
from aws.schedules import SchedulerSchedules
from aws.task_definitions import EcsTaskDefinitions
from aws.tasks import EcsTasks
from lambdas.clients import client
from lambdas.environment import Environment
from tidemark.money.quotas import Quotas
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


def on_one_machine() -> bool:
    """Tell whether the functions run in the one-machine cloud."""
    return Environment().endpoint_url is not None


@cache
def log_queries() -> LogQueries:
    """Return Logs Insights."""
    return InsightsQueries(client("logs"))


@cache
def executions() -> Executions:
    """Return the executions of state machines."""
    return StepFunctionsExecutions(client("stepfunctions"))


@cache
def tasks() -> Tasks:
    """Return the tasks of the cluster."""
    return EcsTasks(client("ecs"), Environment().cluster)


@cache
def task_definitions() -> TaskDefinitions:
    """Return the task definitions of images."""
    return EcsTaskDefinitions(client("ecs"))


@cache
def bus() -> EventBus:
    """Return the default event bus."""
    return DefaultEventBus(client("events"))


@cache
def topic() -> Topic:
    """Return the topic of outcomes."""
    return SnsTopic(client("sns"), Environment().topic)


@cache
def releases() -> Releases:
    """Return the versions that release pipelines have announced to the stack."""
    return ParameterReleases(client("ssm"), Environment().stack)


@cache
def properties() -> Properties:
    """Return the properties of instances that exist."""
    return S3Properties(client("s3"))


@cache
def account() -> Account:
    """Return the things of the account, by their names."""
    return NamedThings(client)


@cache
def quotas() -> Quotas:
    """Return the quotas of the account and region."""
    return AppliedQuotas(client("service-quotas"))


@cache
def queues() -> Backlog:
    """Return the queues of the account."""
    return SqsQueues(client("sqs"))


@cache
def clusters() -> Backlog:
    """Return the clusters of the account."""
    return EcsClusters(client("ecs"))


@cache
def rules() -> Rules:
    """Return the rules of the default event bus."""
    return EventBridgeRules(client("events"))


@cache
def schedules() -> Schedules:
    """Return the schedules of EventBridge Scheduler."""
    return SchedulerSchedules(client("scheduler"))


@cache
def metrics() -> Metrics:
    """Return the stack's CloudWatch metrics."""
    return EmbeddedMetrics(Environment().stack)
