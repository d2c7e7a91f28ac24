"""The task definition of a program: its container and those beside it, its log and its roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aws_cdk import Aws, Duration
from aws_cdk.aws_ecs import (
    AwsLogDriverMode,
    ContainerImage,
    CpuArchitecture,
    FargateTaskDefinition,
    LogDriver,
    OperatingSystemFamily,
    RuntimePlatform,
    TaskDefinition,
)
from aws_cdk.aws_logs import LogGroup
from aws_cdk.aws_s3 import Bucket
from constructs import Construct

from cdk.policies import acknowledge, allow, objects_finding
from tidemark.model.services import Container
from tidemark.model.task import WORKLOAD_LABEL, Task
from tidemark.store.keys import BELOW_A_SECRET, DATA

_STOP_TIMEOUT = Duration.seconds(30)


class Beside(NamedTuple):
    """A container beside the container of the program."""

    name: str
    image: ContainerImage
    container: Container


class Program(FargateTaskDefinition):
    """The task definition of one program of a suite."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        task: Task,
        container: str,
        image: ContainerImage,
        entry_point: Sequence[str] | None,
        environment: Mapping[str, str],
        logs: LogGroup,
        log_prefix: str,
        bucket: Bucket,
        family: str | None = None,
        owned: str = "",
        beside: Sequence[Beside] = (),
    ) -> None:
        super().__init__(
            scope,
            name,
            family=family,
            cpu=task.cpu,
            memory_limit_mib=task.memory,
            ephemeral_storage_gib=task.storage,
            runtime_platform=RuntimePlatform(
                cpu_architecture=CpuArchitecture.X86_64,
                operating_system_family=OperatingSystemFamily.LINUX,
            ),
        )
        logging = LogDriver.aws_logs(
            log_group=logs,
            stream_prefix=log_prefix,
            # Rates are read from these lines, so none may be dropped to keep a task going.
            mode=AwsLogDriverMode.BLOCKING,
        )
        self.add_container(
            container,
            image=image,
            entry_point=entry_point,
            environment=dict(environment),
            logging=logging,
            docker_labels={WORKLOAD_LABEL: task.workload} if task.workload else None,
            stop_timeout=_STOP_TIMEOUT,
        )
        # All are essential: ECS stops the whole task when one of them has ended.
        for each in beside:
            self.add_container(
                each.name,
                image=each.image,
                command=list(each.container.command) or None,
                environment=dict(each.container.environment),
                logging=logging,
                stop_timeout=_STOP_TIMEOUT,
            )
        # The tasks may store and load data, and list what lies below a secret: the place of each
        # trial's data is a secret of its tasks. They may read all that they may list, so every
        # suite has the permission, needed or not. Credentials of a run of its own would end after
        # an hour, the limit of a role that is assumed by a role, and would stand in the history of
        # the execution.
        below = {"StringLike": {"s3:prefix": BELOW_A_SECRET}}
        for statement in (
            allow(["s3:GetObject", "s3:PutObject"], [bucket.arn_for_objects(f"{DATA}*")]),
            allow(["s3:ListBucket"], [bucket.bucket_arn], below),
        ):
            self.task_role.add_to_principal_policy(statement)
        if owned:
            grant_own(self, owned)
        if beside:
            acknowledge(self, "ECS2", "No client outside the task reaches what these are for.")
        elif environment:
            why = "The command that installs a version, or the folder that has it, is no secret."
            acknowledge(self, "ECS2", why)
        acknowledge(
            self,
            objects_finding(bucket, f"{DATA}*"),
            "The data of a trial has a secret name, and no trial exists yet.",
        )
        acknowledge(
            self,
            "IAM5[Resource::*]",
            "ecr:GetAuthorizationToken takes no resource: the token is the account's.",
        )

    @property
    def roles(self) -> Sequence[str]:
        """The ARNs of the roles that are passed to the tasks."""
        return [self.task_role.role_arn, self.obtain_execution_role().role_arn]


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
    """Let tasks make, use and delete resources with names of a pattern, and nothing else."""
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
