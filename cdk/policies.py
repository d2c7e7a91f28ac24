"""Parts of IAM policies, and the findings of cdk-nag about them that have a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from aws_cdk import Aws, Stack, Validations
from aws_cdk.aws_ecs import Cluster
from aws_cdk.aws_iam import PolicyStatement
from aws_cdk.aws_kms import IKey, Key
from aws_cdk.aws_s3 import IBucket
from aws_cdk.aws_stepfunctions import StateMachine
from constructs import Construct, IConstruct

from tidemark.model.instance import of_instance
from tidemark.model.settings import Settings

Conditions = Mapping[str, Any]


def allow(
    actions: Sequence[str], resources: Sequence[str], conditions: Conditions | None = None
) -> PolicyStatement:
    """Return a statement that allows actions on resources if all conditions hold."""
    return PolicyStatement(
        actions=list(actions), resources=list(resources), conditions=dict(conditions or {})
    )


def kms_key(scope: Construct, id_: str, settings: Settings) -> IKey | None:
    """Return the key of the setting ``kmsKey``, None without it."""
    return Key.from_key_arn(scope, id_, settings.kms_key) if settings.kms_key else None


def using_key(key: str) -> Sequence[PolicyStatement]:
    """Return the statements for the use of a key, none for ''."""
    return [allow(["kms:Decrypt", "kms:GenerateDataKey"], [key])] if key else []


def uncovered(patterns: Iterable[str]) -> list[str]:
    """Return the patterns that no other one covers, in order."""
    all_patterns = set(patterns)
    return sorted(
        pattern
        for pattern in all_patterns
        if not any(fnmatchcase(pattern, other) for other in all_patterns - {pattern})
    )


def instance_arns(service: str, resource: str, names: Iterable[str]) -> list[str]:
    """Return the ARNs of names in the own account, with a wildcard for the id of each instance."""
    place = f"arn:{Aws.PARTITION}:{service}:{Aws.REGION}:{Aws.ACCOUNT_ID}"
    found = uncovered(of_instance(name, "*") for name in names)
    return [f"{place}:{resource}{name}" for name in found]


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
    return f"IAM5[Resource::{exported(bucket, bucket.bucket_arn)}/{pattern}]"


def exported(construct: IConstruct, value: str) -> str:
    """Return the name by which another stack imports a value of a construct's stack."""
    stack = Stack.of(construct)
    name: str = stack.resolve(stack.export_value(value))["Fn::ImportValue"]
    return name


def wildcard_finding(construct: IConstruct, arn: str) -> str:
    """Return the finding that a role may use whatever has an ARN of a pattern in its own stack."""
    return f"IAM5[Resource::{_shown(Stack.of(construct).resolve(arn))}]"


def _shown(value: Any) -> str:  # noqa: ANN401 (a value of a template)
    """Return a text of a template as cdk-nag shows it, with references between angle brackets."""
    match value:
        case {"Fn::Join": [str(separator), list(parts)]}:
            return separator.join(map(_shown, parts))
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return f"<{name}.{attribute}>"
        case {"Ref": str(name)}:
            return f"<{name}>"
    return str(value)
