"""Parts of IAM policies, and the findings of cdk-nag about them that have a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, cast

from aws_cdk import Aws, CfnResource, Stack, Validations
from aws_cdk.aws_ecs import Cluster
from aws_cdk.aws_iam import PolicyStatement
from aws_cdk.aws_logs import ILogGroup
from aws_cdk.aws_s3 import IBucket
from aws_cdk.aws_stepfunctions import StateMachine
from constructs import IConstruct

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


EXECUTIONS = "An execution has a name when it is started, and no sooner."
DEFINITIONS = "A run may measure a version that was released after the deployment."
_TOKENS = {"Partition": Aws.PARTITION, "Region": Aws.REGION, "AccountId": Aws.ACCOUNT_ID}
INSTANCES = "A run names its instance, which exists before or after the deployment."


def acknowledge(construct: IConstruct, finding: str, reason: str) -> None:
    """Acknowledge a finding such as ``S1`` or ``IAM5[Resource::*]``, with a reason."""
    # Validations.acknowledge refuses an id with more than one '::', and the ids of IAM5 have more.
    construct.node.add_metadata(
        Validations.ACKNOWLEDGED_RULES_METADATA_KEY,
        {f"AwsSolutions::AwsSolutions-{finding}": reason},
    )


def objects_finding(bucket: IBucket, pattern: str) -> str:
    """Return the finding that a role of another stack may use all objects of a key pattern."""
    stack = Stack.of(bucket)
    exported = stack.resolve(stack.export_value(bucket.bucket_arn))["Fn::ImportValue"]
    return f"IAM5[Resource::{exported}/{pattern}]"


def executions_finding(machine: StateMachine) -> str:
    """Return the finding that a role may use every execution of a state machine."""
    return _wildcard_finding(machine, "states", "execution:<{}.Name>:*")


def tasks_finding(cluster: Cluster) -> str:
    """Return the finding that a role may use every task of a cluster."""
    return _wildcard_finding(cluster, "ecs", "task/<{}>/*")


def definitions_finding(family: str) -> str:
    """Return the finding that a role may use every task definition of some families."""
    arn = "arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>"
    return f"IAM5[Resource::{arn}:task-definition/{family}-*:*]"


def instances_finding(arn: str) -> str:
    """Return the finding that a role may use the resources of any instance at an ARN."""
    named = arn
    for name in ("Partition", "Region", "AccountId"):
        named = named.replace(_TOKENS[name], f"<AWS::{name}>")
    return f"IAM5[Resource::{named}]"


def function_finding(name: str) -> str:
    """Return the finding that a role may call every function of a name with a wildcard."""
    arn = "arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>"
    return f"IAM5[Resource::{arn}:function:{name}]"


def streams_finding(log_group: ILogGroup) -> str:
    """Return the finding that a role may use every stream of a log group of another owner."""
    arn = "arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>"
    return f"IAM5[Resource::{arn}:log-group:{log_group.log_group_name}:*]"


def _wildcard_finding(owner: IConstruct, service: str, resource: str) -> str:
    name = Stack.of(owner).get_logical_id(cast("CfnResource", owner.node.default_child))
    arn = f"arn:<AWS::Partition>:{service}:<AWS::Region>:<AWS::AccountId>"
    return f"IAM5[Resource::{arn}:{resource.format(name)}]"
