"""What roles are granted, in the words of IAM policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Stack
from aws_cdk.aws_ecs import Cluster
from aws_cdk.aws_iam import PolicyStatement
from aws_cdk.aws_stepfunctions import StateMachine

Conditions = Mapping[str, Any]


def allow(
    actions: Sequence[str], resources: Sequence[str], conditions: Conditions | None = None
) -> PolicyStatement:
    """Return a statement that allows actions on resources, under all of the conditions."""
    return PolicyStatement(
        actions=list(actions), resources=list(resources), conditions=dict(conditions or {})
    )


def executions(machine: StateMachine) -> str:
    """Return the ARN of every execution of a state machine."""
    return Stack.of(machine).format_arn(
        service="states", resource=f"execution:{machine.state_machine_name}:*"
    )


def in_cluster(cluster: Cluster) -> Conditions:
    """Return the condition that a task is, or is to be, one of a cluster's."""
    return {"ArnEquals": {"ecs:cluster": cluster.cluster_arn}}
