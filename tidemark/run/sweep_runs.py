"""SweepRuns: end runs and tasks that nobody ended, and find schedules that started no run."""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_pascal

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


class _AwsDescription(BaseModel):
    model_config = ConfigDict(alias_generator=to_pascal, populate_by_name=True)


class RetryPolicy(_AwsDescription):
    """The time for which a start is tried."""

    maximum_event_age_in_seconds: int


class Target(_AwsDescription):
    """The target that a schedule starts."""

    retry_policy: RetryPolicy


class Schedule(_AwsDescription):
    """A schedule as GetSchedule describes it."""

    schedule_expression: str
    schedule_expression_timezone: str
    state: str
    last_modification_date: datetime
    target: Target

    def last_due(self, now: datetime) -> datetime | None:
        """Return the last due time that must have a run by now.

        Return None if no time was due since the last change, or if the schedule is disabled.

        Raises
        ------
        Refused
            If the expression is not a cron expression.

        """
        if self.state != "ENABLED":
            return None
        age = timedelta(seconds=self.target.retry_policy.maximum_event_age_in_seconds)
        fields = _CRON.sub(r"\1", self.schedule_expression)
        due = Cron(fields, self.schedule_expression_timezone).last_until(now - age - _PLANNING)
        return due if due and due >= self.last_modification_date else None


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
    description = schedules.describe(name)
    if description is None:
        return True
    due = Schedule.model_validate(description).last_due(now)
    return due is not None and not _was_planned(bucket, suite, due)


def _was_planned(bucket: Bucket, suite: str, due: datetime) -> bool:
    runs = {keys.run_of(key) for key in bucket.keys(keys.begun_at(due))}
    plans = (find_plan(bucket, run) for run in runs)
    return any(
        (plan.request.suite, plan.request.scheduled_at) == (suite, due) for plan in plans if plan
    )
