"""SweepRuns: end runs and tasks that nobody ended, and find schedules that started no run."""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from tidemark.model.cron import Cron
from tidemark.model.outcome import Outcome
from tidemark.model.run_id import run_of_group
from tidemark.model.sentences import shortened
from tidemark.model.telemetry import LOGGER, MISSED_SCHEDULES
from tidemark.run.end_run import Ending
from tidemark.run.events import holder
from tidemark.run.ports import Metrics, Schedules
from tidemark.store import claims, keys
from tidemark.store.bucket import Bucket
from tidemark.store.stored_plan import find_plan

_LONGEST_REASON = 500  # bytes
# Time from the last delivery attempt to the run's plan: retries of PlanRun and of its state.
_PLANNING = timedelta(minutes=15)
_CRON = re.compile(r"^cron\((.*)\)$")
_logger = logging.getLogger(LOGGER)


class AttemptsFailed(RuntimeError):
    """The steps that failed, each with its reason; the other steps succeeded."""


class Attempts:
    """The steps of one invocation and the failures among them.

    ``faults`` are the errors of the services that the steps call.
    """

    def __init__(self, faults: tuple[type[Exception], ...] = ()) -> None:
        self._faults: tuple[type[Exception], ...] = (*faults, RuntimeError, ValueError, LookupError)
        self._failures: list[str] = []

    @contextmanager
    def at(self, step: str) -> Iterator[None]:
        """Log and keep an error of a service or of stored data, and continue after the block."""
        try:
            yield
        except self._faults as error:
            _logger.exception("failed", extra={"step": step})
            reason = shortened(str(error), _LONGEST_REASON)
            self._failures.append(f"{step}: {type(error).__name__}: {reason}")

    def check(self) -> None:
        """Raise AttemptsFailed with every failed step, if any step failed."""
        if self._failures:
            raise AttemptsFailed("; ".join(self._failures))


def end_dead_runs(ending: Ending, now: datetime, attempts: Attempts) -> list[Outcome]:
    """End every run whose execution is dead, and stop tasks of runs that have ended.

    A run that cannot be ended does not keep the other runs from their end.
    """
    # List the tasks first: a run that claims its suite later has started none of them.
    groups = ending.tasks.groups()
    claimed = list(claims.all_held(ending.bucket))
    outcomes = []
    for held in claimed:
        with attempts.at(f"run {held.claim.run_id}"):
            outcomes.append(ending.end(holder(ending.executions, held.claim, now), now))
    runs = {held.claim.run_id for held in claimed}
    for arn, group in groups.items():
        run_id = run_of_group(group)
        if run_id and run_id not in runs:
            with attempts.at(f"task {arn}"):
                ending.tasks.stop(arn, f"run {run_id} has ended")
    return [outcome for outcome in outcomes if outcome]


def tell_missed_schedules(
    bucket: Bucket,
    schedules: Schedules,
    metrics: Metrics,
    watched: Mapping[str, str],
    now: datetime,
    attempts: Attempts,
) -> list[str]:
    """Return the suites without a run for their last due time; send their number as a metric.

    ``watched`` maps each suite to the name of its schedule. The suite of a deleted schedule is
    missed, too. A schedule that cannot be read is a failure of ``attempts``.
    """
    missed: dict[str, bool] = {}
    for suite, name in watched.items():
        with attempts.at(f"schedule {name}"):
            missed[suite] = _is_missed(bucket, schedules, suite, name, now)
    suites = [suite for suite, is_missed in missed.items() if is_missed]
    # A schedule that cannot be read may hide a missed start: a 0 would clear the alarm.
    if suites or (watched and missed.keys() == watched.keys()):
        _logger.info("missed", extra={"suites": suites})
        metrics.send(MISSED_SCHEDULES, len(suites))
    return suites


def _is_missed(bucket: Bucket, schedules: Schedules, suite: str, name: str, now: datetime) -> bool:
    schedule = schedules.describe(name)
    if schedule is None:
        return True
    due = _last_due(schedule, now)
    return due is not None and not _was_planned(bucket, suite, due)


def _last_due(schedule: Mapping[str, Any], now: datetime) -> datetime | None:
    """Return the last due time that must have a run by now; the schedule is as GetSchedule has it.

    Return None if no time was due since the last change, or if the schedule is disabled.

    Raises
    ------
    Refused
        If the expression is not a cron expression.

    """
    if schedule["State"] != "ENABLED":
        return None
    tried = timedelta(seconds=schedule["Target"]["RetryPolicy"]["MaximumEventAgeInSeconds"])
    fields = _CRON.sub(r"\1", schedule["ScheduleExpression"])
    cron = Cron(fields, schedule["ScheduleExpressionTimezone"])
    due = cron.last_until(now - tried - _PLANNING)
    return due if due and due >= schedule["LastModificationDate"] else None


def _was_planned(bucket: Bucket, suite: str, due: datetime) -> bool:
    runs = {keys.run_of(key) for key in bucket.keys(keys.begun_at(due))}
    plans = (find_plan(bucket, run) for run in runs)
    return any(
        (plan.request.suite, plan.request.scheduled_at) == (suite, due) for plan in plans if plan
    )
