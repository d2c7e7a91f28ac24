"""The app that a cloud runs, as its owner describes it, and the account that it runs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

REGION = "us-east-1"
ACCOUNT = "123456789012"  # moto's account


class DeploymentFailed(RuntimeError):
    """An app that cannot be synthesised or deployed; the message says why."""


@dataclass(frozen=True)
class Stack:
    """A deployed stack."""

    arn: str
    """The StackId, which is unique even among stacks of the same name."""
    outputs: Mapping[str, str]


class DueTimes(Protocol):
    """The due times of a schedule."""

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first due time after a moment, in UTC; None if there is none."""


ReadCron = Callable[[str, str], DueTimes]
"""Returns the due times of the fields of a cron expression in a time zone, by its IANA name.

It raises ValueError, with one sentence, if either is not accepted.
"""


class Quota(NamedTuple):
    """A quota of Service Quotas, and its value in the cloud."""

    service: str
    code: str
    name: str
    value: float


@dataclass(frozen=True)
class Programs:
    """The programs that run in place of the images of ECS tasks."""

    folder: Path
    """The folder with one folder for each workload."""
    label: str
    """The docker label of a container that names its workload."""
    shared: Path
    """The folder of the code that all workloads use; with theirs it makes the image's digest."""
    environment: Callable[[], Mapping[str, str]]
    """The variables of a program that starts now, besides its container's variables."""
    address_variable: str
    """The variable with the loopback address of the task."""
    service_variable: str
    """The variable that only the containers of services have."""
    own_task: str
    """The id of the task as which Container Insights logs the cloud itself, beside a service."""


@dataclass(frozen=True)
class App:
    """A CDK app."""

    folder: Path
    """The folder in which its command runs."""
    command: tuple[str, ...]
    """The command that synthesises the app, as the CDK CLI would run it."""
    context: str
    """Its context, as JSON."""
    sources: tuple[Path, ...]
    """The files and folders after whose change the app is synthesised again."""
    programs: Programs
    read_cron: ReadCron
    quotas: tuple[Quota, ...] = field(default=())
