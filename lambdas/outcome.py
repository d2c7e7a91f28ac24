"""How a run ended."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator

from lambdas.failure import shortened
from lambdas.results import TrialResult
from suites import keys
from suites.model import NAME, Frozen
from suites.plan import Plan

RunStatus = Literal["complete", "incomplete", "failed", "aborted", "rejected"]


# A Fail state's cause, which this becomes, may have 32,768 characters.
_LONGEST_REASON = 4_000


def _short(reason: str) -> str:
    return shortened(reason, _LONGEST_REASON)


class Outcome(Frozen):
    """A run's last word: ``runs/<run_id>/outcome.json``."""

    run_id: str
    suite: str
    status: RunStatus
    reason: Annotated[str, AfterValidator(_short)]
    trials_planned: int
    trials_done: int
    ended_at: datetime
    execution_arn: str | None = None
    """That which ended, the last of a run that was resumed; None if it was not kept then."""
    comparisons: tuple[str, ...] = ()
    """Keys of the comparisons with its baseline that are published, as Markdown."""
    report: str | None = None
    """Key of its report, as Markdown; None if none is published, or if it was not kept then."""


def judged(
    plan: Plan,
    trials: Sequence[TrialResult],
    published: Collection[str],
    execution_arn: str,
    ended_at: datetime,
    failure: str = "",
    failed: RunStatus = "failed",
) -> Outcome:
    """Return the outcome of a planned run.

    ``published`` are the keys of what its report has. ``failure`` is what its execution ended of,
    '' if nothing kept it from its end, and ``failed`` the status that this gives it.
    """
    done = sum(trial.status == "ok" for trial in trials)
    status: RunStatus = "complete"
    reason = failure
    if failure:
        status = failed
    elif not done:
        status = "failed"
    elif done < len(plan.trials):
        status = "incomplete"
    if not reason and status != "complete":
        reason = f"{len(plan.trials) - done} of {len(plan.trials)} trials did not give all rates"
        if first := next((trial for trial in trials if trial.status != "ok"), None):
            reason += f"; the first is trial {first.trial} ({first.version}): {first.reason}"
    suite, base = plan.suite.name, (plan.run_id, plan.request.baseline or "")
    comparisons = (
        keys.comparison(suite, base, (plan.run_id, version), "md") for version in plan.compared
    )
    report = keys.report(suite, plan.run_id, "report.md")
    return Outcome(
        run_id=plan.run_id,
        suite=plan.request.suite,
        status=status,
        reason=reason,
        trials_planned=len(plan.trials),
        trials_done=done,
        ended_at=ended_at,
        execution_arn=execution_arn,
        comparisons=tuple(key for key in comparisons if key in published),
        report=report if report in published else None,
    )


def unplanned(
    run_id: str,
    suite: object,
    execution_arn: str,
    ended_at: datetime,
    reason: str,
    status: RunStatus,
) -> Outcome:
    """Return the outcome of an execution that got no plan."""
    return Outcome(
        run_id=run_id,
        # What was refused may be no name at all, and as long as an input may be.
        suite=suite if isinstance(suite, str) and re.fullmatch(NAME, suite) else "",
        status=status,
        reason=reason,
        trials_planned=0,
        trials_done=0,
        ended_at=ended_at,
        execution_arn=execution_arn,
    )
