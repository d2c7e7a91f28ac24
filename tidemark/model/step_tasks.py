"""The tasks of a test by its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tidemark.model.results import TaskResult
from tidemark.model.suite import Test


def of_steps(test: Test, of_run: int, tasks: Sequence[TaskResult]) -> Sequence[TaskResult]:
    """Return the tasks of a test, each with its step, which its index tells.

    ``of_run`` is the value of the run's parameter ``tasks``.
    """
    if not test.steps:
        return tasks
    steps = [step.name for step, indices in test.task_indices(of_run) for _ in indices]
    return [task if task.service else replace(task, step=steps[task.index]) for task in tasks]


def tasks_of(test: Test, declared: str | None, tasks: Iterable[TaskResult]) -> list[TaskResult]:
    """Return the tasks that have what is declared for one step, or for all of them; no services."""
    return [task for task in tasks if not task.service and test.is_of(declared, task.step)]
