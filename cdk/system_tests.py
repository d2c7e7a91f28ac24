"""The ECS cluster that the tests run on, its network, and a task definition for each suite."""

from __future__ import annotations

import re
from collections.abc import Mapping

from aws_cdk import Aws, Duration, Stack
from aws_cdk.aws_ecr import Repository
from aws_cdk.aws_ecr_assets import Platform
from aws_cdk.aws_ecs import (
    AwsLogDriverMode,
    Cluster,
    ContainerImage,
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
from cdk.log_groups import log_group
from cdk.network import Network
from cdk.policy_statements import allow
from tidemark.model.settings import Settings
from tidemark.model.suite import WORKLOAD_LABEL, Suite
from tidemark.store.keys import DATA

# An image in ECR: account, region, repository, and digest or else tag.
_ECR_IMAGE = re.compile(
    r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/([^:@]+)"
    r"(?::[^@]+(?=@))?(?:[:@](.+))?"
)


class SuiteTasks(Construct):
    """The task definition, log group and roles of one suite's tests."""

    def __init__(
        self, scope: Construct, name: str, *, suite: Suite, settings: Settings, bucket: Bucket
    ) -> None:
        super().__init__(scope, name)
        # People find the group by this name in the console; the stack's name makes it unique.
        group = f"/{Stack.of(self).stack_name}/{suite.name}"
        self.log_group = log_group(self, "Logs", settings, group)
        task = suite.task
        self.definition = FargateTaskDefinition(
            self,
            "Task",
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
            image=_image(self, task.workload, settings),
            entry_point=list(task.entry_point),
            logging=LogDriver.aws_logs(
                log_group=self.log_group,
                stream_prefix=suite.name,
                # Rates are read from these lines, so none may be dropped to keep a task going.
                mode=AwsLogDriverMode.BLOCKING,
            ),
            docker_labels={WORKLOAD_LABEL: task.workload},
            stop_timeout=Duration.seconds(30),
        )
        # The tasks may store and load data, and list nothing: the place of each trial's data is a
        # secret of its tasks. Credentials of a run of its own would end after an hour, the limit of
        # a role that is assumed by a role, and would stand in the history of the execution.
        self.definition.task_role.add_to_principal_policy(
            allow(["s3:GetObject", "s3:PutObject"], [bucket.arn_for_objects(f"{DATA}*")])
        )
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

    def _usage_logs(self) -> ILogGroup:
        """Return the log group that Container Insights creates, and keeps for a day.

        The stack does not own it: late events would create it again after the stack's deletion, and
        the next deployment would fail (aws/containers-roadmap#2315). A test reads it at once.
        """
        name = f"/aws/ecs/containerinsights/{Stack.of(self).stack_name}/performance"
        return LogGroup.from_log_group_name(self, "UsageLogs", name)


def existing_image(scope: Construct, name: str) -> ContainerImage:
    """Return the image with a full name; CDK lets a task's execution role pull it."""
    match = _ECR_IMAGE.fullmatch(name)
    if not match:
        return ContainerImage.from_registry(name)
    account, region, path, version = match.groups()
    # CDK grants the pull to the execution role through the repository.
    repository = Repository.from_repository_attributes(
        scope,
        "Repository",
        repository_name=path,
        repository_arn=f"arn:{Aws.PARTITION}:ecr:{region}:{account}:repository/{path}",
    )
    return ContainerImage.from_ecr_repository(repository, version or "latest")


def _image(scope: Construct, workload: str, settings: Settings) -> ContainerImage:
    if settings.image:
        return existing_image(scope, settings.image)
    # The image is built for the platform of the tasks, not for that of the deploying machine.
    return ContainerImage.from_asset(
        str(settings.systems / "workloads" / workload), platform=Platform.LINUX_AMD64
    )
