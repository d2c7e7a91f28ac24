"""The permission of a suite's tasks to have buckets, queues and tables of their trial's own."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk.aws_ecs import TaskDefinition

from cdk.findings import acknowledge
from cdk.policy_statements import allow

_TABLES = (
    "BatchGetItem", "BatchWriteItem", "ConditionCheckItem", "CreateTable", "DeleteItem",
    "DeleteTable", "DescribeTable", "GetItem", "PutItem", "Query", "Scan", "UpdateItem",
    "UpdateTimeToLive",
)  # fmt: skip
_QUEUES = (
    "ChangeMessageVisibility", "CreateQueue", "DeleteMessage", "DeleteQueue", "GetQueueAttributes",
    "GetQueueUrl", "ReceiveMessage", "SendMessage",
)  # fmt: skip
_BUCKETS = ("CreateBucket", "DeleteBucket", "ListBucket")
_OBJECTS = ("AbortMultipartUpload", "DeleteObject", "GetObject", "PutObject")


def grant_own(definition: TaskDefinition, owned: str) -> None:
    """Let tasks make, use and delete what has names of a pattern, and nothing else."""
    place = f"{Aws.REGION}:{Aws.ACCOUNT_ID}"
    grants = (
        ("dynamodb", _TABLES, f"{place}:table/{owned}"),
        ("sqs", _QUEUES, f"{place}:{owned}"),
        ("s3", _BUCKETS, f"::{owned}"),
        ("s3", _OBJECTS, f"::{owned}/*"),
    )
    for service, actions, resource in grants:
        arn = f"arn:{Aws.PARTITION}:{service}:{resource}"
        definition.add_to_task_role_policy(
            allow([f"{service}:{action}" for action in actions], [arn])
        )
        acknowledge(
            definition,
            f"IAM5[Resource::{_shown(arn)}]",
            "The names have digits of the trial, and no trial exists yet.",
        )


def _shown(arn: str) -> str:
    """Return an ARN as cdk-nag shows it."""
    shown = {Aws.PARTITION: "Partition", Aws.REGION: "Region", Aws.ACCOUNT_ID: "AccountId"}
    for token, name in shown.items():
        arn = arn.replace(token, f"<AWS::{name}>")
    return arn
