"""Schedules that were due and have no run for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from aws_lambda_powertools.utilities.parser import BaseModel
from pydantic import ConfigDict
from pydantic.alias_generators import to_pascal

from lambdas.attempts import Attempts
from lambdas.aws import Bucket, Schedules
from lambdas.metrics import send
from lambdas.observability import logger
from lambdas.stored import find_plan
from suites import keys
from suites.cron import Cron
from suites.telemetry import MISSED_SCHEDULES

# From the last try of a delivery to the plan of the run: retries of PlanRun, and of its state.
_PLANNING = timedelta(minutes=15)
_CRON = re.compile(r"^cron\((.*)\)$")


class _Described(BaseModel):
    model_config = ConfigDict(alias_generator=to_pascal, populate_by_name=True)


class RetryPolicy(_Described):
    """How long a start is tried."""

    maximum_event_age_in_seconds: int


class Target(_Described):
    """What is started."""

    retry_policy: RetryPolicy


class Schedule(_Described):
    """A schedule as GetSchedule describes it."""

    schedule_expression: str
    schedule_expression_timezone: str
    state: str
    last_modification_date: datetime
    target: Target

    def last_due(self, now: datetime) -> datetime | None:
        """Return the last time for which there must be a run by now.

        None if there was none since the schedule was changed, or if it is disabled.

        Raises
        ------
        Refused
            If the expression is not one of cron.

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
    watched: Mapping[str, str],
    now: datetime,
    attempts: Attempts,
) -> list[str]:
    """Return the suites that have no run for the last time that they were due; send their number.

    ``watched`` holds the name of each suite's schedule. One that somebody deleted starts nothing
    any more: its suite is among them. One that cannot be read is among what failed of ``attempts``.
    """
    missed: dict[str, bool] = {}
    for suite, name in watched.items():
        with attempts.at(f"schedule {name}"):
            missed[suite] = _is_missed(bucket, schedules, suite, name, now)
    suites = [suite for suite, is_missed in missed.items() if is_missed]
    # Of one that cannot be read nobody knows that nothing was missed: no alarm is taken back.
    if suites or (watched and missed.keys() == watched.keys()):
        logger.info("missed", extra={"suites": suites})
        send(MISSED_SCHEDULES, len(suites))
    return suites


def _is_missed(bucket: Bucket, schedules: Schedules, suite: str, name: str, now: datetime) -> bool:
    described = schedules.describe(name)
    if described is None:
        return True
    due = Schedule.model_validate(described).last_due(now)
    return due is not None and not _was_planned(bucket, suite, due)


def _was_planned(bucket: Bucket, suite: str, due: datetime) -> bool:
    runs = {keys.run_of(key) for key in bucket.keys(keys.begun_at(due))}
    plans = (find_plan(bucket, run) for run in runs)
    return any(
        (plan.request.suite, plan.request.scheduled_at) == (suite, due) for plan in plans if plan
    )
