"""Parts of IAM policies: statements, ARNs and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from aws_cdk import Stack
from aws_cdk.aws_ecs import Cluster
from aws_cdk.aws_iam import PolicyStatement
from aws_cdk.aws_stepfunctions import StateMachine

Conditions = Mapping[str, Any]


def allow(
    actions: Sequence[str], resources: Sequence[str], conditions: Conditions | None = None
) -> PolicyStatement:
    """Return a statement that allows actions on resources if all conditions hold."""
    return PolicyStatement(
        actions=list(actions), resources=list(resources), conditions=dict(conditions or {})
    )


def uncovered(patterns: Iterable[str]) -> list[str]:
    """Return the patterns that no other one covers, in order."""
    all_patterns = set(patterns)
    return sorted(
        pattern
        for pattern in all_patterns
        if not any(fnmatchcase(pattern, other) for other in all_patterns - {pattern})
    )


def executions(machine: StateMachine) -> str:
    """Return the ARN pattern of all executions of a state machine."""
    return Stack.of(machine).format_arn(
        service="states", resource=f"execution:{machine.state_machine_name}:*"
    )


def passing_to_tasks(roles: Sequence[str]) -> PolicyStatement:
    """Return a statement that allows passing roles to ECS tasks, and to nothing else."""
    return allow(
        ["iam:PassRole"],
        roles,
        {"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}},
    )


def in_cluster(cluster: Cluster) -> Conditions:
    """Return the condition that a task belongs to a cluster, or is started in it."""
    return {"ArnEquals": {"ecs:cluster": cluster.cluster_arn}}
