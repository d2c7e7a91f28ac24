"""An ECS task's one container as a process: what its definition and the overrides ask for.

No image is run here. A container names the workload folder that its image is built from by the
docker label ``tidemark.workload``, and is refused without it. So is all that a process cannot
honour.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moto.ecs.exceptions import InvalidParameterException
from moto.ecs.models import TaskDefinition

from local.cloud.processes import workload_environment
from local.cloud.sources import digest, source_files
from local.cloud.unsupported import not_honoured
from suites.model import WORKLOAD_LABEL

STOP_TIMEOUT_SECONDS = 30  # ECS's own, between SIGTERM and SIGKILL

_HONOURED = {
    "command", "cpu", "dockerLabels", "entryPoint", "environment", "essential", "image",
    "logConfiguration", "memory", "memoryReservation", "name", "stopTimeout",
}  # fmt: skip
_LOG_OPTIONS = {
    "awslogs-group", "awslogs-region", "awslogs-stream-prefix", "max-buffer-size", "mode",
}  # fmt: skip


@dataclass(frozen=True)
class Container:
    """A process to be, and where its output goes."""

    name: str
    image: str
    image_digest: str
    """Of the workload's folder as it is now, since that is what runs."""
    command: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str]
    role: str
    """ARN of the role that its programs act in, '' if there is none."""
    log_group: str
    log_stream_prefix: str
    stop_timeout_seconds: float


def container_of(
    definition: TaskDefinition, overrides: Mapping[str, Any], workloads: Path
) -> Container:
    """Return the container of a task definition, with RunTask's overrides.

    Parameters
    ----------
    definition
        A Fargate task definition with one essential container.
    overrides
        RunTask's ``overrides``; of a container its command and environment.
    workloads
        The folder that holds the workloads' folders.

    Raises
    ------
    InvalidParameterException
        With the name and value of what cannot be honoured, and what would be accepted.

    """
    described = _only_container(definition)
    name = described["name"]
    refuse_unknown(f"container {name}", described, _HONOURED)
    override = _override(overrides, name)
    entry_point = described.get("entryPoint")
    if not entry_point:
        raise InvalidParameterException(
            f"Container {name} has no entryPoint; no image is run here that would give it one."
        )
    options = _log_options(name, described.get("logConfiguration", {}))
    folder = _workload_folder(name, described.get("dockerLabels", {}), workloads)
    return Container(
        name=name,
        image=described["image"],
        image_digest=f"sha256:{digest(source_files(folder), folder)}",
        command=(
            *_with_this_python(entry_point),
            *override.get("command", described.get("command", [])),
        ),
        directory=folder,
        environment={
            **workload_environment(),
            **_variables(described.get("environment", [])),
            **_variables(override.get("environment", [])),
            "AWS_EXECUTION_ENV": "AWS_ECS_FARGATE",
        },
        # moto gives a definition without a role no such attribute.
        role=getattr(definition, "task_role_arn", ""),
        log_group=options["awslogs-group"],
        log_stream_prefix=options["awslogs-stream-prefix"],
        stop_timeout_seconds=float(described.get("stopTimeout", STOP_TIMEOUT_SECONDS)),
    )


def refuse_unknown(what: str, given: Mapping[str, Any], accepted: Iterable[str]) -> None:
    """Refuse the first field that is set and not accepted, by name.

    Raises
    ------
    InvalidParameterException
        With the field, its value and the accepted fields.

    """
    for name, value in given.items():
        if value and name not in accepted:
            known = ", ".join(sorted(accepted))
            raise InvalidParameterException(not_honoured(f"The {what}", name, value, known))


def _only_container(definition: TaskDefinition) -> dict[str, Any]:
    name = f"{definition.family}:{definition.revision}"
    if "FARGATE" not in definition.compatibilities:
        raise InvalidParameterException(
            f"Task definition {name} has compatibilities {definition.compatibilities}; "
            "accepted: FARGATE."
        )
    if definition.volumes:
        raise InvalidParameterException(f"Task definition {name} has volumes; accepted: none.")
    containers: list[dict[str, Any]] = definition.container_definitions
    if len(containers) != 1 or not containers[0]["essential"]:
        raise InvalidParameterException(
            f"Task definition {name} has the containers "
            f"{', '.join(container['name'] for container in containers)}; "
            "accepted: one essential container."
        )
    return containers[0]


def _override(overrides: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    refuse_unknown("task override", overrides, {"containerOverrides"})
    found: Mapping[str, Any] = {}
    for override in overrides.get("containerOverrides", []):
        if override.get("name") != name:
            raise InvalidParameterException(
                f"Override for container named {override.get('name')} is not a container in the "
                f"TaskDefinition; accepted: {name}."
            )
        refuse_unknown(f"override of {name}", override, {"name", "command", "environment"})
        found = override
    return found


def _with_this_python(entry_point: list[str]) -> list[str]:
    if entry_point[0] in {"python", "python3"}:
        return [sys.executable, *entry_point[1:]]
    return entry_point


def _workload_folder(name: str, labels: Mapping[str, str], workloads: Path) -> Path:
    label = labels.get(WORKLOAD_LABEL)
    known = sorted(folder.name for folder in workloads.iterdir() if folder.is_dir())
    if label not in known:
        given = f"the label {WORKLOAD_LABEL} {label!r}" if label else f"no label {WORKLOAD_LABEL}"
        raise InvalidParameterException(
            f"Container {name} has {given}; no image is run here, and the workloads are "
            f"{', '.join(known)}."
        )
    return workloads / label


def _log_options(name: str, logging: Mapping[str, Any]) -> dict[str, str]:
    driver, options = logging.get("logDriver"), logging.get("options", {})
    if driver != "awslogs":
        raise InvalidParameterException(
            f"Container {name} has the log driver {driver}; accepted: awslogs."
        )
    refuse_unknown(f"log configuration of {name}", logging, {"logDriver", "options"})
    refuse_unknown(f"log configuration of {name}", options, _LOG_OPTIONS)
    # Fargate requires the prefix; without it streams could not be told apart by task.
    for option in ("awslogs-group", "awslogs-stream-prefix"):
        if not options.get(option):
            raise InvalidParameterException(f"The log configuration of {name} lacks {option}.")
    return dict(options)


def _variables(pairs: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {pair["name"]: str(pair["value"]) for pair in pairs}
