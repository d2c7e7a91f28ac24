"""Runs that have not ended, as rows beside those of the runs that have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from local.following import Run, RunClient
from suites.plan import Plan
from suites.tables import timestamp

Row = Mapping[str, str | None]


def running(client: RunClient) -> Iterator[Row]:
    """Yield a row like those of ``run_health.sql`` for each run that holds the claim of its suite.

    Its status is ``running``, or ``ending`` when its execution has ended and its outcome is not
    recorded yet; the trials done are those recorded, whatever they gave.
    """
    for run_id, execution_arn in client.results.claims().items():
        # A claim is written a moment before the plan.
        if plan := client.results.plan(run_id):
            status = "running" if client.active(Run(run_id, execution_arn)) else "ending"
            yield _row(plan, status, len(client.results.recorded(run_id)))


def _row(plan: Plan, status: str, recorded: int) -> Row:
    return {
        "suite": plan.suite.name,
        "year": plan.run_id[:4],
        "run_id": plan.run_id,
        "status": status,
        "reason": "",
        "trials_planned": str(len(plan.trials)),
        "trials_done": str(recorded),
        "versions": ", ".join(plan.request.versions),
        "started_at": timestamp(plan.started_at),
        "ended_at": None,
        "task_seconds": None,
        "note": plan.request.note,
        "trigger": plan.request.trigger,
    }
