"""The tasks of a test by its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tidemark.model.instance import word_of
from tidemark.model.results import TaskResult
from tidemark.model.steps import Step
from tidemark.model.suite import Test


def of_steps(test: Test, of_run: int, tasks: Sequence[TaskResult]) -> Sequence[TaskResult]:
    """Return the tasks of a test, each with its step, which its index tells, and its definition.

    ``of_run`` is the value of the run's parameter ``tasks``. A task that was found has its step.
    """
    if not test.steps:
        return tasks
    steps = [step for step, indices in test.task_indices(of_run) for _ in indices]
    return [
        task if task.service or task.step else _of_step(task, steps[task.index]) for task in tasks
    ]


def _of_step(task: TaskResult, step: Step) -> TaskResult:
    definition = word_of(step.definition) if step.definition else ""
    return replace(task, step=step.name, definition=definition)


def tasks_of(test: Test, declared: str | None, tasks: Iterable[TaskResult]) -> list[TaskResult]:
    """Return the tasks that have what is declared for one step, or for all of them; no services."""
    return [task for task in tasks if not task.service and test.is_of(declared, task.step)]
