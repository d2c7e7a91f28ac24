"""Schedule expressions of EventBridge Scheduler, and their due times.

Source: Amazon EventBridge Scheduler user guide, "Schedule types".
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from onebox.app import DueTimes, ReadCron

_SECONDS = {"minute": 60, "hour": 3600, "day": 86_400}
_RATE = re.compile(r"rate\(([1-9]\d{0,4}) (minute|hour|day)s?\)")
_AT = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)")
_CRON = re.compile(r"cron\((.*)\)")


@dataclass(frozen=True)
class _Rate:
    start: datetime
    period: timedelta

    def next_after(self, moment: datetime) -> datetime:
        return self.start + self.period * ((moment - self.start) // self.period + 1)


@dataclass(frozen=True)
class _Once:
    due: datetime

    def next_after(self, moment: datetime) -> datetime | None:
        return self.due if self.due > moment else None


def due_times(expression: str, zone: str, created_at: datetime, read_cron: ReadCron) -> DueTimes:
    """Return the due times of an expression: ``rate(…)``, ``at(…)`` or ``cron(…)``.

    A rate is first due when the schedule is created.

    Raises
    ------
    ValueError
        If the expression has another form, or the time zone does not exist.

    """
    clocks = _time_zone(zone)
    if rate := _RATE.fullmatch(expression):
        return _Rate(created_at, timedelta(seconds=int(rate[1]) * _SECONDS[rate[2]]))
    if at := _AT.fullmatch(expression):
        with suppress(ValueError):  # not a calendar date
            due = datetime.fromisoformat(at[1]).replace(tzinfo=clocks)
            return _Once(due.astimezone(UTC))
    if cron := _CRON.fullmatch(expression):
        return read_cron(cron[1], zone)
    raise ValueError(
        f"{expression!r} is no schedule expression; accepted: such as rate(7 days), "
        "at(2026-11-22T02:00:00) or cron(0 2 ? * SUN *)"
    )


def _time_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise ValueError(f"{name!r} is no time zone such as Etc/UTC or Europe/London") from None
