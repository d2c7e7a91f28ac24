"""The earlier time range that ``diff`` compares with the one of the query."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from cwli.insights.syntax import QueryError, Span

_DAY = 86_400
_DAYS = {"previousday": 1, "previousweek": 7}
PERIODS = (*_DAYS, "previousmonth")
"""The words after ``diff``, in lower case."""


class Comparison(NamedTuple):
    """A comparison with the time range before, or with one of ``PERIODS``.

    Attributes
    ----------
    span : Span
        The place of the command in the query.
    period : str
        One of ``PERIODS``, '' for the range just before the query's own.
    """

    span: Span
    period: str

    def earlier(self, start: int | None, end: int | None) -> tuple[int, int]:
        """Return the first and last second of the earlier range, which is as long.

        Raises
        ------
        QueryError
            If the query has no time range, or one that the earlier range would overlap.
        """
        if start is None or end is None:
            raise QueryError("diff needs the start and the end of a time range", self.span)
        length = end - start + 1
        first = self._first(start, length)
        if first + length > start:
            raise QueryError("diff needs a time range that the earlier one ends before", self.span)
        return first, first + length - 1

    def _first(self, start: int, length: int) -> int:
        if not self.period:
            return start - length
        if self.period in _DAYS:
            return start - _DAYS[self.period] * _DAY
        return _month_before(start)


def _month_before(second: int) -> int:
    """Return the same time of the month before, on its last day if it is shorter."""
    time = datetime.fromtimestamp(second, UTC)
    last = time.replace(day=1).timestamp() - _DAY
    day = min(time.day, datetime.fromtimestamp(last, UTC).day)
    return int(datetime.fromtimestamp(last, UTC).replace(day=day).timestamp())
