"""The pace of the runs that a suite has had before."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice

from tidemark.client.results import Results
from tidemark.money.pace import Pace, measured_pace
from tidemark.store.bucket import Damaged

_MOST_RUNS, _MOST_TRIALS = 3, 10


def earlier_paces(results: Results, suite: str, at_once: int) -> list[Pace]:
    """Return the pace of each of a suite's newest measured runs, the newest first.

    ``at_once`` tasks run side by side.
    """
    paces = (_pace(results, run_id, at_once) for run_id in results.newest_runs(suite))
    return list(islice((pace for pace in paces if pace), _MOST_RUNS))


def _pace(results: Results, run_id: str, at_once: int) -> Pace | None:
    """Return the pace of a run, None if it measured nothing or is damaged."""
    with suppress(Damaged):
        plan, outcome = results.plan(run_id), results.outcome(run_id)
        if plan and outcome and plan.imported is None:
            recorded = results.recorded(run_id)
            some = sorted({*recorded[:_MOST_TRIALS], *recorded[-1:]})
            trials = (results.trial(run_id, number) for number in some)
            return measured_pace(plan, trials, outcome.ended_at, at_once)
    return None
