"""Due times of a schedule of EventBridge Scheduler.

Source: Amazon EventBridge Scheduler user guide, "Schedule types" and "Daylight savings time".
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from aws_croniter import AwsCroniter  # type: ignore[import-untyped]

from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown

# Clocks were never put back by more than this at once.
_LONGEST_REPEAT = timedelta(hours=3)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def time_zone(name: str) -> ZoneInfo:
    """Return the IANA time zone of a name; refuse an unknown name."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise Refused(
            f"{shown(name)} is not a time zone such as Etc/UTC or Europe/London"
        ) from None


class Cron:
    """A cron expression in a time zone.

    A time that the zone's clocks skip is never due; a repeated time is due once, the first time.

    Parameters
    ----------
    fields
        Minutes, hours, day of month, month, day of week and year, such as ``0 2 ? * SUN *``.
    zone
        Name of an IANA time zone.

    Raises
    ------
    Refused
        If the fields are not a cron expression or match no day, for ``LW``, for ``L`` alone as a
        day of the week, and for an unknown zone.

    """

    def __init__(self, fields: str, zone: str) -> None:
        try:
            self._cron = AwsCroniter(fields)
            due = self._cron.get_next(_LONG_AGO)[0]
        except ValueError:
            due = None
        if due is None:
            raise Refused(
                f"{shown(fields)} is not a supported cron expression; expected minutes, "
                "hours, day of month, month, day of week and year, with ? for one of both days"
            )
        self._zone = time_zone(zone)

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first due time after a moment in UTC, None if there is none."""
        wall = self._wall(moment)
        while wall := self._cron.get_next(wall)[0]:
            due = self._due(wall)
            if due and due > moment:
                return due
        return None

    def last_until(self, moment: datetime) -> datetime | None:
        """Return the last due time up to a moment in UTC, None if there is none."""
        wall = self._wall(moment) + _LONGEST_REPEAT
        while wall := self._cron.get_prev(wall)[0]:
            due = self._due(wall)
            if due and due <= moment:
                return due
        return None

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """Yield the due times after a moment and up to another, both in UTC."""
        due = self.next_after(start)
        while due and due <= end:
            yield due
            due = self.next_after(due)

    def _wall(self, moment: datetime) -> datetime:
        """Return the zone's wall-clock time at a moment, marked as UTC for AwsCroniter."""
        return moment.astimezone(self._zone).replace(tzinfo=UTC, fold=0)

    def _due(self, wall: datetime) -> datetime | None:
        """Return the first moment with this wall-clock time, None if clocks skip the time."""
        due = wall.replace(tzinfo=self._zone).astimezone(UTC)
        return due if self._wall(due) == wall else None


def exceed_in_a_day(crons: Collection[Cron], most: int) -> bool:
    """Tell whether crons together are due more often than ``most`` within any 24 hours.

    Five weeks are looked at, from the day on which the last cron begins: every day of a month.
    """
    firsts = [first for cron in crons if (first := cron.next_after(_LONG_AGO))]
    start = max(firsts, default=_LONG_AGO) - timedelta(days=1)
    recent = deque[datetime](maxlen=most + 1)
    for due in heapq.merge(*(cron.between(start, start + timedelta(weeks=5)) for cron in crons)):
        recent.append(due)
        if len(recent) > most and due - recent[0] < timedelta(days=1):
            return True
    return False
