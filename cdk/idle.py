"""What the deployed stacks cost in a month in which nothing is measured, by AWS's list prices."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from suites.prices import HOURS_OF_MONTH, SERVICE_PRICES
from suites.refusal import Refused
from suites.telemetry import MISSED_SCHEDULES, NAMESPACE

# Assumed of what has been measured before: some two years of a weekly run, as of one machine.
_RESULTS_GB = 0.2
_LOG_GROUP_GB = 0.02
# Of what a schedule invokes: assumed, as are the requests by which a sweep finds nothing to do.
_SWEEP_SECONDS = 2.0
_SWEEP_LISTINGS = 3
_SWEEP_LOG_BYTES = 1_000
# Assumed of Container Insights while no task runs: each minute an event of the cluster, with as
# many metrics (the numbers of its tasks, services and instances).
_CLUSTER_METRICS = 3
_CLUSTER_EVENT_BYTES = 500

Properties = Mapping[str, Any]


@dataclass(frozen=True)
class Charge:
    """The resources of one type, and what they cost together."""

    kind: str
    """As CloudFormation names the type."""
    count: int
    usd: float
    """A month of all of them [USD]."""
    reason: str
    """What is charged, or why nothing is."""


class Unpriced(Refused):
    """A resource that has no price here; says what it is."""


def idle_charges(templates: Iterable[Mapping[str, Any]]) -> list[Charge]:
    """Return what the resources of CloudFormation templates cost idle, the dearest type first.

    Raises
    ------
    Unpriced
        If a resource has no price, and no reason why it costs nothing either.

    """
    found: dict[str, list[Properties]] = defaultdict(list)
    for template in templates:
        for resource in template["Resources"].values():
            found[resource["Type"]].append(resource.get("Properties", {}))
    charges = [_charge(kind, resources) for kind, resources in found.items()]
    return sorted(charges, key=lambda charge: (-charge.usd, charge.kind))


def _charge(kind: str, resources: list[Properties]) -> Charge:
    if kind in _FREE:
        return Charge(kind, len(resources), 0.0, _FREE[kind])
    if kind not in _PRICED:
        raise Unpriced(f"resources: {kind} has no price; say in cdk/idle.py what it costs idle")
    monthly, reason = _PRICED[kind]
    return Charge(kind, len(resources), sum(map(monthly, resources)), reason)


def _alarm(properties: Properties) -> float:
    if "Metrics" in properties or properties["Period"] < 60:
        raise Unpriced("resources: an alarm on several metrics, or of seconds, has no price here")
    # The metrics of a run are priced with the run; this one is sent by every sweep.
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
        SERVICE_PRICES.of_functions(invocations, _SWEEP_SECONDS)
        + SERVICE_PRICES.of_logs(invocations * _SWEEP_LOG_BYTES)
        + invocations * _SWEEP_LISTINGS * SERVICE_PRICES.listing
        + invocations * SERVICE_PRICES.trace
    )


def _endpoint(properties: Properties) -> float:
    if properties.get("VpcEndpointType", "Gateway") != "Gateway":
        raise Unpriced("resources: a VPC endpoint that is no gateway has no price here")
    return 0.0


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
    "AWS::EC2::VPCEndpoint": (_endpoint, "a gateway endpoint is free"),
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

_REPORTS = "QuickSight charges for users, and for more of SPICE than comes with an author"

_FREE: Mapping[str, str] = {
    "AWS::Athena::NamedQuery": "a query is charged when it is asked",
    "AWS::Athena::WorkGroup": "a query is charged when it is asked",
    "AWS::EC2::InternetGateway": _NETWORK,
    "AWS::EC2::Route": _NETWORK,
    "AWS::EC2::RouteTable": _NETWORK,
    "AWS::EC2::SecurityGroup": _NETWORK,
    "AWS::EC2::Subnet": _NETWORK,
    "AWS::EC2::SubnetRouteTableAssociation": _NETWORK,
    "AWS::EC2::VPC": _NETWORK,
    "AWS::EC2::VPCGatewayAttachment": _NETWORK,
    "AWS::ECS::TaskDefinition": "only tasks are charged",
    "AWS::Glue::Database": _CATALOGUE,
    "AWS::Glue::Table": _CATALOGUE,
    "AWS::IAM::Policy": _PERMISSION,
    "AWS::IAM::Role": _PERMISSION,
    "AWS::Lambda::Function": "only invocations are charged",
    "AWS::Lambda::Permission": _PERMISSION,
    "AWS::Logs::QueryDefinition": "a query is charged when it is asked",
    "AWS::S3::BucketPolicy": _PERMISSION,
    "AWS::Scheduler::Schedule": "a million starts cost a dollar; what they start is runs",
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
}
