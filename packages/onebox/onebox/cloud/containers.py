"""The one container of an ECS task as a process, from its definition and the overrides.

No image runs here. A docker label names the folder of the workload that a container's image is
built from. A container without the label is refused, and so is every setting that a process cannot
honour.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moto.ecs.exceptions import InvalidParameterException
from moto.ecs.models import TaskDefinition

from onebox.app import Programs
from onebox.cloud import replacements
from onebox.cloud.cgroups import Limits
from onebox.cloud.processes import BARE_PYTHON
from onebox.cloud.sealed_folders import digest, source_files


def address_of(task_id: str) -> str:
    """Return the address of a task, which follows from the hexadecimal id of the task.

    Two clouds on this machine agree on nothing, and yet their tasks have different addresses: one
    in 16 million pairs does not. 127.0.0.0/16 is left to other programs.
    """
    number = int(task_id, 16)
    second, third, last = number % 255 + 1, number // 255 % 256, number // 255 // 256 % 254 + 1
    return f"127.{second}.{third}.{last}"


STOP_TIMEOUT_SECONDS = 30  # ECS's default, from SIGTERM to SIGKILL

_HONOURED = {
    "command", "cpu", "dockerLabels", "entryPoint", "environment", "essential", "image",
    "logConfiguration", "memory", "memoryReservation", "name", "stopTimeout",
}  # fmt: skip
_LOG_OPTIONS = {
    "awslogs-group", "awslogs-region", "awslogs-stream-prefix", "max-buffer-size", "mode",
}  # fmt: skip


@dataclass(frozen=True)
class Container:
    """The process to start, and the destination of its output."""

    name: str
    image: str
    image_digest: str
    """Digest of the workload's folder and the shared code as they are now, which is what runs."""
    command: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str]
    address_variable: str
    """The name of its variable with the task's address."""
    serves: bool
    """Whether it is a service, which runs while other tasks are measured."""
    role: str
    """ARN of the role of its programs, '' if there is none."""
    log_group: str
    log_stream_prefix: str
    stop_timeout_seconds: float
    limits: Limits
    """The limits of its programs, none unless RunTask set the CPU or memory of the task."""


def container_of(
    definition: TaskDefinition, overrides: Mapping[str, Any], programs: Programs
) -> Container:
    """Return the one essential container of a Fargate task definition, with RunTask's overrides.

    These may set its command and environment, and the CPU and memory of the task: only those are
    limits here. Raise InvalidParameterException, with name, value and what is accepted, if a
    setting cannot be honoured.
    """
    settings = _only_container(definition)
    name = settings["name"]
    refuse_unknown(f"container {name}", settings, _HONOURED)
    override = _override(overrides, name)
    entry_point = settings.get("entryPoint")
    if not entry_point:
        raise InvalidParameterException(
            f"Container {name} has no entryPoint; no image runs here to provide it."
        )
    options = _log_options(name, settings.get("logConfiguration", {}))
    variables = _variables(settings.get("environment", []))
    variables |= _variables(override.get("environment", []))
    folder = _workload_folder(name, settings.get("dockerLabels", {}), programs)
    return Container(
        name=name,
        image=settings["image"],
        image_digest=f"sha256:{_digest(folder, programs.shared)}",
        command=(
            *_with_bare_python(entry_point),
            *override.get("command", settings.get("command", [])),
        ),
        directory=folder,
        environment={
            **programs.environment(),
            **variables,
            "AWS_EXECUTION_ENV": "AWS_ECS_FARGATE",
        },
        address_variable=programs.address_variable,
        serves=programs.service_variable in variables,
        # A definition without a role has no such attribute in moto.
        role=getattr(definition, "task_role_arn", ""),
        log_group=options["awslogs-group"],
        log_stream_prefix=options["awslogs-stream-prefix"],
        stop_timeout_seconds=float(settings.get("stopTimeout", STOP_TIMEOUT_SECONDS)),
        limits=_limits(overrides),
    )


def refuse_unknown(owner: str, fields: Mapping[str, Any], accepted: Collection[str]) -> None:
    """Raise InvalidParameterException if a field has a value and is not accepted."""
    given = {name: value for name, value in fields.items() if value}
    replacements.refuse_unknown(f"The {owner}", given, accepted, InvalidParameterException)


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
    refuse_unknown("task override", overrides, {"containerOverrides", "cpu", "memory"})
    container_override: Mapping[str, Any] = {}
    for override in overrides.get("containerOverrides", []):
        if override.get("name") != name:
            raise InvalidParameterException(
                f"Override for container named {override.get('name')} is not a container in the "
                f"TaskDefinition; accepted: {name}."
            )
        refuse_unknown(f"override of {name}", override, {"name", "command", "environment"})
        container_override = override
    return container_override


def _limits(overrides: Mapping[str, Any]) -> Limits:
    sizes = {name: overrides[name] for name in ("cpu", "memory") if overrides.get(name)}
    for name, value in sizes.items():
        if not str(value).isdecimal():
            raise InvalidParameterException(
                f"Task override {name} is {value}; accepted: a whole number of CPU units or MiB."
            )
    return Limits(
        cpu=int(sizes["cpu"]) / 1024 if "cpu" in sizes else None,
        memory_bytes=int(sizes["memory"]) << 20 if "memory" in sizes else None,
    )


def _digest(folder: Path, shared: Path) -> str:
    digests = (digest(source_files(part), part) for part in (folder, shared))
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _with_bare_python(entry_point: list[str]) -> list[str]:
    if entry_point[0] in {"python", "python3"}:
        return [BARE_PYTHON, *entry_point[1:]]
    return entry_point


def _workload_folder(name: str, labels: Mapping[str, str], programs: Programs) -> Path:
    label = labels.get(programs.label)
    known = sorted(folder.name for folder in programs.folder.iterdir() if folder.is_dir())
    if label not in known:
        text = f"the label {programs.label} {label!r}" if label else f"no label {programs.label}"
        raise InvalidParameterException(
            f"Container {name} has {text}; accepted: {', '.join(known)}. The label names the "
            "workload to run, since no image runs here."
        )
    return programs.folder / label


def _log_options(name: str, logging: Mapping[str, Any]) -> dict[str, str]:
    driver, options = logging.get("logDriver"), logging.get("options", {})
    if driver != "awslogs":
        raise InvalidParameterException(
            f"Container {name} has the log driver {driver}; accepted: awslogs."
        )
    refuse_unknown(f"log configuration of {name}", logging, {"logDriver", "options"})
    refuse_unknown(f"log configuration of {name}", options, _LOG_OPTIONS)
    # Fargate requires the prefix; without it the stream names would not identify the tasks.
    for option in ("awslogs-group", "awslogs-stream-prefix"):
        if not options.get(option):
            raise InvalidParameterException(f"The log configuration of {name} lacks {option}.")
    return dict(options)


def _variables(pairs: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {pair["name"]: str(pair["value"]) for pair in pairs}
