"""The lines that tasks log besides metrics: machine and packages, usage, and the last lines.

The facts of machines tell whether two versions had different machines.

A system under test may log anything, so each environment is kept within bounds.

Source of usages: Amazon CloudWatch user guide, "Container Insights performance log events for
Amazon ECS".
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from statistics import fmean
from typing import Any

from tidemark.model.load import HeldLevel, LoadCourse
from tidemark.model.results import CLOUD, TaskResult, TrialResult, Usage
from tidemark.model.sentences import shortened, visible

Environment = dict[str, Any]

MACHINE = frozenset({
    "arch", "cores", "cpu_model", "instance_type", "kernel", "memory", "os",
})  # fmt: skip
"""The fields of a machine. Any other field may be one of the system's or its author's own."""
OF_VERSION = ("version", "engine_version", "package", "package_digest")
"""The fields of a version."""
DATA_SET_FIELD = "data_set"
"""The start of other fields of a version: digests of the data that it made."""
HOST = "host"
"""The field of the name of the host: each task may have its own host."""


def environments(trials: Iterable[TrialResult]) -> Iterator[tuple[TrialResult, Environment]]:
    """Yield what each task logged of itself, with its trial."""
    for trial in trials:
        for result in trial.tests:
            for environment in result.environments:
                yield trial, environment


def fact_names(environment: Environment) -> list[str]:
    """Return the names of the fields that are facts of a machine."""
    return sorted(MACHINE & environment.keys())


def other_names(environment: Environment) -> list[str]:
    """Return the names of the fields of neither a machine nor a version, such as programs."""
    return sorted(
        name
        for name in environment.keys() - {*MACHINE, *OF_VERSION, HOST}
        if not name.startswith(DATA_SET_FIELD)
    )


def fact_text(name: str, value: object) -> str:
    """Return the value of a field in words."""
    if name == "memory" and isinstance(value, int):
        return f"{value / 2**30:,.1f} GiB"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def facts(trials: Iterable[TrialResult]) -> dict[str, set[str]]:
    """Return the different values of each fact of the machines of some trials."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for _, environment in environments(trials):
        for name in fact_names(environment):
            found[name].add(fact_text(name, environment[name]))
    return found


def unlike(base: Iterable[TrialResult], new: Iterable[TrialResult]) -> bool:
    """Tell whether a fact that the tasks of both logged of their machines differs."""
    before, after = facts(base), facts(new)
    return any(before[name] != after[name] for name in before.keys() & after.keys())


MOST_FIELDS = 40
LONGEST_NAME = 60
"""[B]."""
LONGEST_VALUE = 200
"""[B]."""
CUT = "cut short or left out"
"""The field that counts the fields of an environment that were not kept as logged."""


def environments_by_stream(rows: Sequence[Mapping[str, str]]) -> dict[str, Environment]:
    """Return the environment that the task of each log stream logged, by stream."""
    return {
        row["@logStream"]: _environment(row["environment"]) for row in rows if "environment" in row
    }


def different(logged: Iterable[Environment]) -> list[Environment]:
    """Return each different environment once."""
    by_text = {json.dumps(environment, sort_keys=True): environment for environment in logged}
    return [by_text[text] for text in sorted(by_text)]


def other_version(environment: Environment, asked: str) -> str:
    """Return a sentence if a task's system reported another version than ``asked``, else ''."""
    found = environment.get("engine_version", asked)
    return "" if found == asked else f"measured version {found}: {asked} was asked for"


def _environment(text: str) -> Environment:
    """Return an environment line's object; an unreadable line is kept and fails no measurement."""
    try:
        logged = json.loads(text)
    except (ValueError, RecursionError):
        logged = None
    return _bounded(logged if isinstance(logged, dict) else {"unreadable": text})


def _bounded(logged: Environment) -> Environment:
    kept: Environment = {}
    cut = len(logged)
    for name, value in islice(logged.items(), MOST_FIELDS):
        field = _within(name, LONGEST_NAME), _value(value)
        kept.update([field])
        cut -= field == (name, value)
    return {**kept, CUT: f"{cut} of {len(logged)} fields"} if cut else kept


def _value(value: object) -> object:
    # A lone surrogate within a list or an object must not hide behind its escape.
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    within = _within(text, LONGEST_VALUE)
    return value if within == text else within


def _within(text: str, most_bytes: int) -> str:
    line = visible(text)
    return line if len(line.encode()) <= most_bytes else shortened(line, most_bytes)


_UNITS_OF_VCPU = 1024


def usages(rows: Iterable[Mapping[str, str]], task_ids: Container[str]) -> tuple[Usage, ...]:
    """Return the usage of these tasks, from the rows of ``task_usage.cwli`` in order of time."""
    read, written = _Counter("StorageReadBytes"), _Counter("StorageWriteBytes")
    return tuple(_usage(row, read, written) for row in rows if row.get("TaskId") in task_ids)


class _Counter:
    """A field that counts from the start of its task, as Container Insights' storage fields do."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._last: dict[str, float] = {}

    def since_last(self, row: Mapping[str, str]) -> float | None:
        """Return the increase since the task's last row; None if it is missing or went back."""
        now = _number(row, self._field)
        if now is None:
            return None
        increase = now - self._last.get(row["TaskId"], 0.0)
        self._last[row["TaskId"]] = now
        return increase if increase >= 0 else None


def _usage(row: Mapping[str, str], read: _Counter, written: _Counter) -> Usage:
    units = _number(row, "CpuUtilized")
    return Usage(
        task_id=row["TaskId"],
        logged_at=row["@timestamp"],
        cpu=None if units is None else units / _UNITS_OF_VCPU,
        memory=_number(row, "MemoryUtilized"),
        network_in=_number(row, "NetworkRxBytes"),
        network_out=_number(row, "NetworkTxBytes"),
        disk_read=read.since_last(row),
        disk_written=written.since_last(row),
    )


def _number(row: Mapping[str, str], field: str) -> float | None:
    return float(row[field]) if field in row else None


_MOST_LINES = 5
_LONGEST_LINES = 500  # [B]


def last_lines(rows: Sequence[Mapping[str, str]], stream: str) -> str:
    """Return the end of a sentence with the last lines of a log stream, '' without any.

    ``rows`` are in descending order of time.
    """
    lines = [row["@message"] for row in rows if row.get("@logStream") == stream]
    if not lines:
        return ""
    said = shortened(lines[0], _LONGEST_LINES)
    for line in lines[1:_MOST_LINES]:
        longer = shortened(f"{line} / {said}", _LONGEST_LINES)
        # The last line says most, so that the earliest lines are left out.
        if not longer.endswith(said):
            break
        said = longer
    return f"; its last lines: {said}"


def with_cpu(load: LoadCourse, usages: Sequence[Usage], tasks: Sequence[TaskResult]) -> LoadCourse:
    """Return a load with the mean CPU of each service from the start to the end of each level.

    The local cloud, which shares a machine with the services, is like one. AWS logs the usage of a
    task once a minute: a shorter level may have none.
    """
    services = {task.task_id: task.service for task in tasks if task.service}
    services[CLOUD] = "the local cloud"
    logged = [
        (datetime.fromisoformat(usage.logged_at).replace(tzinfo=UTC), services[usage.task_id], cpu)
        for usage in usages
        if usage.task_id in services and (cpu := usage.cpu) is not None
    ]
    return load.model_copy(update={"held": tuple(_with_cpu(each, logged) for each in load.held)})


def _with_cpu(level: HeldLevel, logged: Sequence[tuple[datetime, str, float]]) -> HeldLevel:
    used: defaultdict[str, list[float]] = defaultdict(list)
    for at, service, cpu in logged:
        if level.begun_at and level.begun_at < at <= level.ended_at:
            used[service].append(cpu)
    return level.model_copy(update={"cpu": {name: fmean(each) for name, each in used.items()}})
