"""The task definition of a program: its image, containers, log and roles."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from aws_cdk import Annotations, Aws, Duration
from aws_cdk.aws_ecr import Repository
from aws_cdk.aws_ecr_assets import DockerImageAsset, Platform
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

from cdk.policies import acknowledge, allow, objects_finding, using_key, wildcard_finding
from tidemark.model.services import Container
from tidemark.model.settings import Settings, image
from tidemark.model.suite import Suite
from tidemark.model.task import HARNESS, WORKLOAD_LABEL, Task, preparation_variables
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
        key: str = "",
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
            *using_key(key),
        ):
            self.task_role.add_to_principal_policy(statement)
        if owned:
            grant_own(self, owned)
        if beside:
            acknowledge(self, "ECS2", "No client outside the task reaches what these are for.")
        elif environment:
            why = "The console may show the settings and the command of an installer."
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
            wildcard_finding(definition, arn),
            "The names have digits of the trial, and no trial exists yet.",
        )


# An image in ECR: account, region, repository, and digest or else tag.
_ECR_IMAGE = re.compile(
    r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/([^:@]+)"
    r"(?::[^@]+(?=@))?(?:[:@](.+))?"
)
_NOT_SOURCES = shutil.ignore_patterns("__pycache__")


def image_of(scope: Construct, suite: Suite, settings: Settings) -> ContainerImage:
    """Return the image that the suite or the settings name, or else the image of its workload.

    A workload that needs more than Python and has no Dockerfile makes the synthesis of the CDK's
    command line fail.
    """
    if suite.subject.image and suite.runs_images:
        # No task runs this tag: PrepareTrial puts the version's own in its place.
        return existing_image(scope, suite.subject.requirement("version"))
    return _image(scope, suite, suite.name, suite.task, settings)


def service_image(
    scope: Construct, suite: Suite, service: str, settings: Settings
) -> ContainerImage:
    """Return the image of a service that the settings name, or else the image of its workload."""
    task = suite.services[service].task
    return _image(scope, suite, f"{suite.name}/{service}", task, settings)


def _image(
    scope: Construct, suite: Suite, program: str, task: Task, settings: Settings
) -> ContainerImage:
    """Return the existing or the built image of a task; report an image that cannot be built."""
    found = image(suite, program, task, settings)
    if found.name:
        return existing_image(scope, found.name)
    folder = settings.systems / "workloads" / task.workload
    if found.dockerfile:
        return _built_image(scope, folder, found.dockerfile, _build_arguments(suite, settings))
    Annotations.of(scope).add_error(
        f"workloads/{folder.name} has no Dockerfile and needs more than Python: add one, or name "
        f"an image, such as -c images={suite.name}=ghcr.io/owner/name:tag."
    )
    # One machine runs no image, and so it needs none.
    return ContainerImage.from_registry("none")


def _build_arguments(suite: Suite, settings: Settings) -> Mapping[str, str]:
    """Return the arguments of Docker's build: the package index, the Pythons, the versions."""
    index = settings.package_index
    arguments = {"PIP_INDEX_URL": index, "UV_DEFAULT_INDEX": index} if index else {}
    if suite.pythons:
        arguments["TIDEMARK_PYTHONS"] = " ".join(suite.pythons)
    if settings.prebuilt:
        subject = suite.subject
        inside = [
            {
                "TIDEMARK_VERSION": each,
                "TIDEMARK_PACKAGE": subject.requirement(each),
                **preparation_variables(subject),
            }
            for each in subject.versions
        ]
        arguments["TIDEMARK_VERSIONS"] = json.dumps(inside)
    return arguments


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


def _built_image(
    scope: Construct, workload: Path, dockerfile: str, arguments: Mapping[str, str]
) -> ContainerImage:
    """Return the image of a Dockerfile, whose context has the harness beside the workload."""
    with TemporaryDirectory() as context:
        for folder in (workload, HARNESS):
            shutil.copytree(folder, Path(context, folder.name), ignore=_NOT_SOURCES)
        # The construct copies its folder at once.
        asset = DockerImageAsset(
            scope,
            "Image",
            directory=context,
            file=dockerfile,
            build_args={"WORKLOAD": workload.name, **arguments},
            # The image is built for the platform of the tasks, not for the deploying machine's.
            platform=Platform.LINUX_AMD64,
        )
    return ContainerImage.from_docker_image_asset(asset)
