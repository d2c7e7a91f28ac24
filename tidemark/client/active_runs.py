"""Rows of active runs, in the form of the rows of ended runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from tidemark.client.deployed import Stored
from tidemark.store.bucket import Damaged
from tidemark.store.claims import claimed_runs
from tidemark.store.columns import timestamp
from tidemark.store.run_objects import recorded_trials
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import planned_so_far

if TYPE_CHECKING:
    from tidemark.model.plan import Plan

Row = Mapping[str, str | None]


def active_runs(stored: Stored) -> Iterator[Row]:
    """Yield a row like those of ``run_health.sql`` for each run that holds the claim of its suite.

    ``trials_done`` counts the recorded trials, successful or not.
    """
    for run_id, execution_arn in claimed_runs(stored.bucket).items():
        # A claim is written a moment before its plan.
        if plan := _whole_plan(stored, run_id):
            status = stored.status_of(execution_arn)
            plan = planned_so_far(stored.bucket, plan)
            yield _row(plan, status, len(recorded_trials(stored.bucket, run_id)))


def _whole_plan(stored: Stored, run_id: str) -> Plan | None:
    """Return the plan of a run, None if there is none or it is damaged: it hides no other run."""
    with suppress(Damaged):
        return find_plan(stored.bucket, run_id)
    return None


def _row(plan: Plan, status: str, recorded: int) -> Row:
    return {
        "suite": plan.suite.name,
        "run_id": plan.run_id,
        "status": status,
        "reason": "",
        "trials_planned": str(len(plan.all_trials)),
        "trials_done": str(recorded),
        "versions": ", ".join(plan.request.versions),
        "started_at": timestamp(plan.started_at),
        "ended_at": None,
        "task_seconds": None,
        "note": plan.request.note,
        "trigger": plan.request.trigger,
    }
