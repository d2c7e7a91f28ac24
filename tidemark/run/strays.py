"""Tasks that ran beside those of a test, unknown to the state machine.

RunTask may answer with an error and start the task all the same; the retry starts another. A state
that times out may leave its task (AWS documents that only an abort stops it).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from tidemark.model.plan import Plan
from tidemark.model.results import TaskResult
from tidemark.run.ports import Tasks

_REASON = (
    "it ran beside the tasks of the test: ECS had started it although it answered with an error; "
    "resume the run or start another"
)


def clusters_of(tasks: Tasks, plan: Plan | None) -> list[Tasks]:
    """Return the tasks of every cluster that a run may start some in; ``tasks`` are of our own."""
    known = plan.known if plan else None
    return [tasks, *(tasks.in_cluster(arn) for arn in (known.clusters if known else ()))]


def stop_strays(
    clusters: Sequence[Tasks], run_id: str, known: Sequence[TaskResult], since: datetime
) -> list[TaskResult]:
    """Stop the tasks that a run started since a time beside the ``known`` ones.

    Return each as a failed task, since it took a share of what the test measured. A known task
    without an ARN has failed already, and a stray may be that task: then return none.
    """
    arns = {task.task_arn for task in known}
    strays = []
    for tasks in clusters:
        for arn in [each for each in tasks.started(run_id, since) if each not in arns]:
            tasks.stop(arn, f"run {run_id} does not know this task")
            strays.append(arn)
    return [] if None in arns else list(_failed(strays, len(known)))


def _failed(strays: Sequence[str], first: int) -> Iterator[TaskResult]:
    for index, arn in enumerate(sorted(strays), first):
        reason = f"task {index}: {_REASON}"
        yield TaskResult(
            index=index, status="failed", task_arn=arn, stop_category="stray", reason=reason
        )
