"""The cost of the deployed stacks in a month without runs, at AWS's list prices."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.model.refusal import Refused
from tidemark.model.telemetry import MISSED_SCHEDULES, NAMESPACE
from tidemark.money.prices import HOURS_OF_MONTH, REPORT_MEMORY, SERVICE_PRICES

# Assumed for stored results: about two years of a weekly run, sized as on one machine.
_RESULTS_GB = 0.2
_LOG_GROUP_GB = 0.02
# Assumed for an image: Debian, Python and the tools of the harness, compressed.
_IMAGE_GB = 0.15
# Assumed for a scheduled sweep that finds nothing to do: its time, LIST requests and log events.
_SWEEP_SECONDS = 2.0
_SWEEP_LISTINGS = 3
_SWEEP_LOG_BYTES = 1_000
# Assumed for Container Insights while no task runs: an event of the cluster each minute, and three
# metrics (the numbers of its tasks, services and instances).
_CLUSTER_METRICS = 3
_CLUSTER_EVENT_BYTES = 500

Properties = Mapping[str, Any]


@dataclass(frozen=True)
class Charge:
    """The resources of one type, and their cost."""

    kind: str
    """The type's name in CloudFormation."""
    count: int
    usd: float
    """The cost of all of them in a month [USD]."""
    reason: str
    """The charged item, or the reason why nothing is charged."""


class Unpriced(Refused):
    """A resource without a price here; the message names the resource."""


def idle_charges(templates: Iterable[Mapping[str, Any]]) -> list[Charge]:
    """Return the idle cost of the resources of CloudFormation templates, the dearest type first.

    Raises
    ------
    Unpriced
        If a resource has neither a price nor a reason why it is free.

    """
    by_type: dict[str, list[Properties]] = defaultdict(list)
    for template in templates:
        for resource in template["Resources"].values():
            by_type[resource["Type"]].append(resource.get("Properties", {}))
    charges = [_charge(kind, resources) for kind, resources in by_type.items()]
    return sorted(charges, key=lambda charge: (-charge.usd, charge.kind))


def _charge(kind: str, resources: list[Properties]) -> Charge:
    if kind in _FREE:
        return Charge(kind, len(resources), 0.0, _FREE[kind])
    if kind not in _PRICED:
        raise Unpriced(
            f"resources: {kind} has no price; add its idle cost to tidemark/money/idle.py"
        )
    monthly, reason = _PRICED[kind]
    return Charge(kind, len(resources), sum(map(monthly, resources)), reason)


def _alarm(properties: Properties) -> float:
    if "Metrics" in properties or properties["Period"] < 60:
        raise Unpriced(
            "resources: an alarm on several metrics, or with a period of seconds, has no price here"
        )
    # Every sweep sends the metric of missed schedules; all other metrics are priced with a run.
    swept = (properties["Namespace"], properties["MetricName"]) == (NAMESPACE, MISSED_SCHEDULES)
    return SERVICE_PRICES.alarm + (SERVICE_PRICES.metric if swept else 0.0)


def _rule(properties: Properties) -> float:
    if "ScheduleExpression" not in properties:
        return 0.0
    expression = properties["ScheduleExpression"]
    hourly = re.fullmatch(r"rate\((\d+) hours?\)", expression)
    if not hourly:
        raise Unpriced(f"resources: a rule with the schedule {expression} has no price here")
    invocations = HOURS_OF_MONTH / int(hourly.group(1))
    return (
        SERVICE_PRICES.of_functions(invocations, _SWEEP_SECONDS, REPORT_MEMORY)
        + SERVICE_PRICES.of_logs(invocations * _SWEEP_LOG_BYTES)
        + invocations * _SWEEP_LISTINGS * SERVICE_PRICES.listing
        + invocations * SERVICE_PRICES.trace
    )


def _endpoint(properties: Properties) -> float:
    kind = properties.get("VpcEndpointType", "Gateway")
    if kind not in {"Gateway", "Interface"}:
        raise Unpriced(f"resources: a VPC endpoint of the type {kind} has no price here")
    zones = len(properties.get("SubnetIds", ())) if kind == "Interface" else 0
    return zones * HOURS_OF_MONTH * SERVICE_PRICES.endpoint_hour


def _definition(properties: Properties) -> float:
    images = (each["Image"] for each in properties.get("ContainerDefinitions", ()))
    built = sum("container-assets" in str(image) for image in images)
    return built * _IMAGE_GB * SERVICE_PRICES.stored_image_gb


def _cluster(properties: Properties) -> float:
    settings = {entry["Name"]: entry["Value"] for entry in properties.get("ClusterSettings", [])}
    insights = settings.get("containerInsights", "disabled")
    if insights == "disabled":
        return 0.0
    if insights != "enabled":
        raise Unpriced(f"resources: a cluster with Container Insights {insights} has no price here")
    events = HOURS_OF_MONTH * 60 * _CLUSTER_EVENT_BYTES
    return _CLUSTER_METRICS * SERVICE_PRICES.metric + SERVICE_PRICES.of_logs(events)


_PRICED: Mapping[str, tuple[Callable[[Properties], float], str]] = {
    "AWS::CloudWatch::Alarm": (_alarm, "by alarm, and the metric that the hourly sweep sends"),
    "AWS::CloudWatch::Dashboard": (lambda _: SERVICE_PRICES.dashboard, "by dashboard"),
    "AWS::EC2::VPCEndpoint": (_endpoint, "by zone and hour; a gateway endpoint is free"),
    "AWS::ECS::TaskDefinition": (
        _definition,
        f"{_IMAGE_GB} GB in ECR for each built image, assumed; tasks are charged when they run",
    ),
    "AWS::ECS::Cluster": (_cluster, "the metrics and log events of Container Insights, assumed"),
    "AWS::Events::Rule": (
        _rule,
        "the function, log events, requests to S3 and traces of the hourly sweep",
    ),
    "AWS::Logs::LogGroup": (
        lambda _: _LOG_GROUP_GB * SERVICE_PRICES.kept_log_gb,
        f"{_LOG_GROUP_GB} GB kept in each, assumed",
    ),
    "AWS::S3::Bucket": (
        lambda _: _RESULTS_GB * SERVICE_PRICES.stored_gb,
        f"{_RESULTS_GB} GB of results, assumed",
    ),
}

_NETWORK = "a network without NAT gateway and addresses is free"
_PERMISSION = "permissions are free"
_CATALOGUE = "the first million objects of the catalogue are free"

_REPORTS = "QuickSight charges for users, and for more SPICE than an author brings"

_FREE: Mapping[str, str] = {
    "AWS::Athena::NamedQuery": "a query is charged when it runs",
    "AWS::Athena::WorkGroup": "a query is charged when it runs",
    "AWS::EC2::InternetGateway": _NETWORK,
    "AWS::EC2::Route": _NETWORK,
    "AWS::EC2::RouteTable": _NETWORK,
    "AWS::EC2::SecurityGroup": _NETWORK,
    "AWS::EC2::SecurityGroupEgress": _NETWORK,
    "AWS::EC2::SecurityGroupIngress": _NETWORK,
    "AWS::EC2::Subnet": _NETWORK,
    "AWS::EC2::SubnetRouteTableAssociation": _NETWORK,
    "AWS::EC2::VPC": _NETWORK,
    "AWS::EC2::VPCGatewayAttachment": _NETWORK,
    "AWS::Glue::Database": _CATALOGUE,
    "AWS::Glue::Table": _CATALOGUE,
    "AWS::IAM::ManagedPolicy": _PERMISSION,
    "AWS::IAM::Policy": _PERMISSION,
    "AWS::IAM::Role": _PERMISSION,
    "AWS::Lambda::Function": "only invocations are charged",
    "AWS::Lambda::Permission": _PERMISSION,
    "AWS::Logs::QueryDefinition": "a query is charged when it runs",
    "AWS::S3::BucketPolicy": _PERMISSION,
    "AWS::Scheduler::Schedule": "a million starts cost a dollar, besides their runs",
    "AWS::QuickSight::Analysis": _REPORTS,
    "AWS::QuickSight::Dashboard": _REPORTS,
    "AWS::QuickSight::DataSet": _REPORTS,
    "AWS::QuickSight::DataSource": _REPORTS,
    "AWS::QuickSight::Theme": _REPORTS,
    "AWS::SNS::Subscription": "only messages are charged",
    "AWS::SNS::Topic": "only messages are charged",
    "AWS::SNS::TopicPolicy": _PERMISSION,
    "AWS::SQS::Queue": "only requests are charged, and none is made while starts are delivered",
    "AWS::SQS::QueuePolicy": _PERMISSION,
    "AWS::StepFunctions::StateMachine": "only state transitions are charged",
    "Custom::VpcRestrictDefaultSG": "a function of the CDK runs once",
}
