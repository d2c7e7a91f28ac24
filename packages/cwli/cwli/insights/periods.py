"""Lengths of time such as ``5m``.

Source: AWS documentation, CloudWatch Logs Insights query syntax: datetime functions.
"""

from __future__ import annotations

from typing import NamedTuple

from cwli.insights.syntax import Period


class Unit(NamedTuple):
    """A unit of time, its length [ms] and its largest amount in bins.

    Calendar units have no fixed length. Weeks begin on a Monday, which AWS does not document.
    """

    symbol: str
    milliseconds: int | None
    most: int | None
    names: tuple[str, ...]
    calendar: str = ""


_UNITS = (
    Unit("ms", 1, 1000, ("ms", "msec", "msecs", "millisecond", "milliseconds")),
    Unit("s", 1_000, 60, ("s", "sec", "secs", "second", "seconds")),
    Unit("m", 60_000, 60, ("m", "min", "mins", "minute", "minutes")),
    Unit("h", 3_600_000, 24, ("h", "hr", "hrs", "hour", "hours")),
    Unit("d", 86_400_000, None, ("d", "day", "days")),
    Unit("w", None, None, ("w", "week", "weeks"), "WEEK"),
    Unit("mo", None, None, ("mo", "mos", "mon", "mons", "month", "months"), "MONTH"),
    Unit("q", None, None, ("q", "qtr", "qtrs", "quarter", "quarters"), "QUARTER"),
    Unit("y", None, None, ("y", "yr", "yrs", "year", "years"), "YEAR"),
)
UNITS = {name: unit for unit in _UNITS for name in unit.names}
SYMBOLS = tuple(unit.symbol for unit in _UNITS)


def cap(period: Period) -> Period:
    """Return a period with its amount capped: ``300s`` is 60 seconds, not 5 minutes."""
    most = UNITS[period.unit].most
    if most is None or period.amount <= most:
        return period
    return Period(period.span, most, period.unit)


def milliseconds(period: Period) -> int | None:
    """Return the length of a period [ms], None for a calendar period."""
    length = UNITS[period.unit].milliseconds
    return None if length is None else period.amount * length


def interval(period: Period) -> str:
    """Return a calendar period as DuckDB's SQL."""
    return f"INTERVAL {period.amount} {UNITS[period.unit].calendar}"
