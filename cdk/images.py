"""The image of a suite's tasks: built from the workload and the harness, or an existing image."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from aws_cdk import Annotations, Aws
from aws_cdk.aws_ecr import Repository
from aws_cdk.aws_ecr_assets import DockerImageAsset, Platform
from aws_cdk.aws_ecs import ContainerImage
from constructs import Construct

from tidemark.model.harness import HARNESS
from tidemark.model.settings import Settings
from tidemark.model.suite import Suite
from tidemark.model.task import Task

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
    if name := settings.image(suite.name):
        return existing_image(scope, name)
    return _workload_image(scope, suite, suite.task, settings)


def service_image(
    scope: Construct, suite: Suite, service: str, settings: Settings
) -> ContainerImage:
    """Return the image of a service that the settings name, or else the image of its workload."""
    if name := settings.image(f"{suite.name}/{service}"):
        return existing_image(scope, name)
    return _workload_image(scope, suite, suite.services[service].task, settings)


def _workload_image(
    scope: Construct, suite: Suite, task: Task, settings: Settings
) -> ContainerImage:
    """Return the image of the workload of a task; report an image that cannot be built."""
    folder = settings.systems / "workloads" / task.workload
    if dockerfile := _dockerfile(suite, task, folder):
        return _built_image(scope, folder, dockerfile)
    Annotations.of(scope).add_error(
        f"workloads/{folder.name} has no Dockerfile and needs more than Python: add one, or name "
        f"an image, such as -c images={suite.name}=ghcr.io/owner/name:tag."
    )
    # One machine runs no image, and so it needs none.
    return ContainerImage.from_registry("none")


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


def _dockerfile(suite: Suite, task: Task, workload: Path) -> str | None:
    """Return the Dockerfile of a suite's image: the workload's own, or a plain one of Python."""
    if (workload / "Dockerfile").is_file():
        return f"{workload.name}/Dockerfile"
    python_alone = task.entry_point[0] == "python" and suite.subject.prepare is None
    return f"{HARNESS.name}/Dockerfile" if python_alone else None


def _built_image(scope: Construct, workload: Path, dockerfile: str) -> ContainerImage:
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
            build_args={"WORKLOAD": workload.name},
            # The image is built for the platform of the tasks, not for the deploying machine's.
            platform=Platform.LINUX_AMD64,
        )
    return ContainerImage.from_docker_image_asset(asset)
