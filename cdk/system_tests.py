"""The ECS cluster that the tests run on, its network, and a task definition for each suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Duration, Stack
from aws_cdk.aws_ecs import (
    AwsLogDriverMode,
    Cluster,
    ContainerInsights,
    CpuArchitecture,
    FargateTaskDefinition,
    LogDriver,
    OperatingSystemFamily,
    RuntimePlatform,
)
from aws_cdk.aws_logs import ILogGroup, LogGroup
from aws_cdk.aws_s3 import Bucket
from constructs import Construct

from cdk.findings import acknowledge, objects_finding
from cdk.images import image_of
from cdk.log_groups import log_group
from cdk.network import Network
from cdk.policy_statements import allow
from tidemark.model.harness import PREPARATION, preparation_variables
from tidemark.model.settings import Settings
from tidemark.model.suite import WORKLOAD_LABEL, Suite
from tidemark.store.keys import BELOW_A_SECRET, DATA


class SuiteTasks(Construct):
    """The task definition, log group and roles of one suite's tests."""

    def __init__(
        self, scope: Construct, name: str, *, suite: Suite, settings: Settings, bucket: Bucket
    ) -> None:
        super().__init__(scope, name)
        self.suite = suite
        # People find the group by this name in the console; the stack's name makes it unique.
        group = f"/{Stack.of(self).stack_name}/{suite.name}"
        self.log_group = log_group(self, "Logs", settings, group)
        task, images = suite.task, suite.subject.image is not None
        # Stack names have no underscore and suite names no hyphen, so no other suite has families
        # that begin with this name.
        self.family = f"{Stack.of(self).stack_name}_{suite.name}" if images else None
        self.definition = FargateTaskDefinition(
            self,
            "Task",
            family=self.family,
            cpu=task.cpu,
            memory_limit_mib=task.memory,
            ephemeral_storage_gib=task.storage,
            runtime_platform=RuntimePlatform(
                cpu_architecture=CpuArchitecture.X86_64,
                operating_system_family=OperatingSystemFamily.LINUX,
            ),
        )
        self.container = self.definition.add_container(
            suite.name,
            image=image_of(self, suite, settings),
            entry_point=_entry_point(suite),
            environment=preparation_variables(suite.subject),
            logging=LogDriver.aws_logs(
                log_group=self.log_group,
                stream_prefix=suite.name,
                # Rates are read from these lines, so none may be dropped to keep a task going.
                mode=AwsLogDriverMode.BLOCKING,
            ),
            docker_labels={WORKLOAD_LABEL: task.workload} if task.workload else None,
            stop_timeout=Duration.seconds(30),
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
            self.definition.task_role.add_to_principal_policy(statement)
        if preparation_variables(suite.subject):
            why = "The command that installs a version, or the folder that has it, is no secret."
            acknowledge(self.definition, "ECS2", why)
        acknowledge(
            self.definition,
            objects_finding(bucket, f"{DATA}*"),
            "The data of a trial has a secret name, and no trial exists yet.",
        )
        acknowledge(
            self.definition,
            "IAM5[Resource::*]",
            "ecr:GetAuthorizationToken takes no resource: the token is the account's.",
        )

    @property
    def roles(self) -> Sequence[str]:
        """The ARNs of the roles that are passed to the tasks."""
        definition = self.definition
        return [definition.task_role.role_arn, definition.obtain_execution_role().role_arn]

    @property
    def run_definitions(self) -> str:
        """The ARN, or the pattern of ARNs, of the definitions that the tasks are run from."""
        if self.family is None:
            return self.definition.task_definition_arn
        return Stack.of(self).format_arn(
            service="ecs", resource="task-definition", resource_name=f"{self.family}-*:*"
        )


def _entry_point(suite: Suite) -> Sequence[str] | None:
    """Return the start of the tasks' command line; None if it is the image's own."""
    if suite.subject.image:
        # The version is in the image: there is nothing to prepare.
        return suite.task.entry_point or None
    return [*PREPARATION, *suite.task.entry_point]


class SystemTests(Construct):
    """The cluster and network, and the tasks of each suite by its name."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        suites: Mapping[str, Suite],
        settings: Settings,
        bucket: Bucket,
    ) -> None:
        super().__init__(scope, name)
        self.network = Network(self, "Network", settings=settings)
        self.usage_logs = self._usage_logs() if settings.container_insights else None
        self.cluster = Cluster(
            self,
            "Cluster",
            vpc=self.network.vpc,
            # Container Insights names its log group after the cluster.
            cluster_name=Stack.of(self).stack_name,
            container_insights_v2=(
                ContainerInsights.ENABLED if self.usage_logs else ContainerInsights.DISABLED
            ),
        )
        if not self.usage_logs:
            acknowledge(self.cluster, "ECS4", "The setting containerInsights leaves it off.")
        self.suites = {
            name: SuiteTasks(self, name.capitalize(), suite=suite, settings=settings, bucket=bucket)
            for name, suite in suites.items()
        }

    @property
    def families(self) -> Sequence[str]:
        """The beginnings of the families of image definitions; none if no suite has images."""
        return [tasks.family for tasks in self.suites.values() if tasks.family]

    def _usage_logs(self) -> ILogGroup:
        """Return the log group that Container Insights creates, and keeps for a day.

        The stack does not own it: late events would create it again after the stack's deletion, and
        the next deployment would fail (aws/containers-roadmap#2315). A test reads it at once.
        """
        name = f"/aws/ecs/containerinsights/{Stack.of(self).stack_name}/performance"
        return LogGroup.from_log_group_name(self, "UsageLogs", name)
