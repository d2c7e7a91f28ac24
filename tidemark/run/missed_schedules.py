"""Schedules that were due and started no run."""

import logging
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_pascal

from tidemark.model.cron import Cron
from tidemark.model.telemetry import LOGGER, MISSED_SCHEDULES
from tidemark.run.attempts import Attempts
from tidemark.run.ports import Metrics, Schedules
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.stored_plan import find_plan

# Time from the last delivery attempt to the run's plan: retries of PlanRun and of its state.
_PLANNING = timedelta(minutes=15)
_logger = logging.getLogger(LOGGER)
_CRON = re.compile(r"^cron\((.*)\)$")


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


def tell_missed(
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
