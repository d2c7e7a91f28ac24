"""Tasks of a test that the state machine does not know.

RunTask may answer with an error and start the task all the same; the retry starts another. A state
that times out does not name its task and may leave it (AWS documents that only an abort stops it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from tidemark.model.plan import Plan
from tidemark.model.results import TaskResult
from tidemark.run.classify_stop import failed, timed_out
from tidemark.run.ports import Tasks

_REASON = (
    "it ran beside the tasks of the test: ECS had started it although it answered with an error; "
    "resume the run or start another"
)
_INDEX = "TIDEMARK_TASK"
"""The variable with the index of a task; the tasks of an instance do not have it."""

_Description = Mapping[str, Any]


class Ended(NamedTuple):
    """The tasks of a test, which all have ended or were told to end."""

    known: list[TaskResult]
    """The tasks that the state machine knows, each with its times if it ran at all."""
    strays: list[TaskResult]
    """The other tasks of the group, as failed tasks: each took a share of the measured work."""
    stopping: bool
    """Whether one of them has been told to stop and still runs: its end is not known yet."""

    @property
    def all(self) -> list[TaskResult]:
        """Every task that ran."""
        return [*self.known, *self.strays]


def clusters_of(tasks: Tasks, plan: Plan | None) -> list[Tasks]:
    """Return the tasks of every cluster that a run may start some in; ``tasks`` are of our own."""
    known = plan.known if plan else None
    return [tasks, *(tasks.in_cluster(arn) for arn in (known.clusters if known else ()))]


def stop_strays(
    clusters: Sequence[Tasks],
    group: str,
    known: Sequence[TaskResult],
    limits: Mapping[int, int],
    since: datetime,
    now: datetime,
) -> Ended:
    """Stop the tasks of a trial's group that started since a time, except the ``known`` tasks.

    A known task without an ARN is one of them, if it was started: it gets its times. ``limits`` are
    the time limits of the known tasks by index [s]. The end of a task that still runs is ``now``.
    """
    arns = {task.task_arn for task in known}
    found = dict(_stopped(clusters, group, since, arns))
    stopping = any(map(_runs, found.values()))
    results = []
    for task in known:
        arn = None if task.task_arn else _arn_of(task, found)
        results.append(_seen(task, found.pop(arn), limits, now) if arn else task)
    left = enumerate(sorted(found), len(known))
    return Ended(results, [_stray(index, found[arn], now) for index, arn in left], stopping)


def _stopped(
    clusters: Sequence[Tasks], group: str, since: datetime, known: set[str | None]
) -> Iterator[tuple[str, _Description]]:
    """Stop each task of a group that is not known; yield it with its ARN."""
    for tasks in clusters:
        for arn, task in tasks.started(group, since).items():
            if arn not in known:
                if _runs(task):
                    tasks.stop(arn, f"trial {group} does not know this task")
                yield arn, task


def _runs(task: _Description) -> bool:
    return bool(task["LastStatus"] != "STOPPED")


def _arn_of(task: TaskResult, found: Mapping[str, _Description]) -> str | None:
    """Return the ARN of the first found task that may be the known task, None if none may be."""
    indices = {arn: _index(found[arn]) for arn in sorted(found)}
    own = None if set(indices.values()) <= {None} else str(task.index)
    return next((arn for arn, index in indices.items() if index == own), None)


def _overrides(task: _Description) -> list[dict[str, Any]]:
    overrides: list[dict[str, Any]] = task.get("Overrides", {}).get("ContainerOverrides", [])
    return overrides


def _index(task: _Description) -> str | None:
    variables = [each for own in _overrides(task) for each in own.get("Environment", [])]
    return next((each["Value"] for each in variables if each["Name"] == _INDEX), None)


def _seen(
    task: TaskResult, described: _Description, limits: Mapping[int, int], now: datetime
) -> TaskResult:
    """Return a known task with its description by ECS."""
    result = _failed(task.index, described, now)
    result = replace(result, step=task.step, definition=task.definition)
    if task.stop_category != "timeout":
        return replace(result, stop_category=task.stop_category, reason=task.reason)
    return timed_out(result, limits[task.index]) if result.started_at else result


def _stray(index: int, described: _Description, now: datetime) -> TaskResult:
    result = _failed(index, described, now)
    return replace(result, stop_category="stray", reason=f"task {index}: {_REASON}")


def _failed(index: int, described: _Description, now: datetime) -> TaskResult:
    # The container that the state machine gives a command; ECS lists the others without any.
    containers = [own["Name"] for own in _overrides(described) if own.get("Command")]
    result = failed(index, described, f"task {index}", containers)
    return replace(result, stopped_at=result.stopped_at or now)
