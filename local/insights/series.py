"""What ``stats`` says of a series of numbers: its rate of change and its distribution, in SQL.

Source: AWS documentation, CloudWatch Logs Insights query syntax: time-series functions. It says
neither between which values a rate is taken nor how a distribution is written.
"""

from __future__ import annotations

from local.insights.values import ArgumentError, Type, Value, finite, text

# AWS documents no limit.
_MOST_RANGES = 100


def rate(time: Value, pointer: Value, number: Value, period: Value) -> Value:
    """Return SQL of the change from the earliest to the latest number in each ``period``.

    Raises
    ------
    ArgumentError
        If the calendar decides how long the period is.
    """
    if period.constant is None:
        raise ArgumentError("a rate is of days or shorter", 3)
    there = f"FILTER (WHERE {number} IS NOT NULL AND {time} IS NOT NULL)"
    latest, earliest = (
        f"{edge}({number}, ({time}, {pointer})) {there}" for edge in ("arg_max", "arg_min")
    )
    elapsed = f"nullif(max({time}) {there} - min({time}) {there}, 0)"
    return finite(f"({latest} - {earliest}) / {elapsed} * {period}")


def histogram(number: Value, ranges: Value) -> Value:
    """Return SQL of how many numbers are in each of some equally wide ranges, by its lower end.

    Raises
    ------
    ArgumentError
        If the number of ranges is not a whole one from 1 to 100.
    """
    count = ranges.constant
    if not isinstance(count, float) or count not in range(1, _MOST_RANGES + 1):
        raise ArgumentError(f"the ranges are a whole number from 1 to {_MOST_RANGES}", 1)
    # Numbers that are all alike have one range. By a struct, so that each aggregate is named once.
    step = f"s.high / {count} - s.low / {count}"
    inside = f"floor(v / ({step}) - s.low / ({step}))"
    members = f"list_filter(s.all, lambda v: least({inside}, {count - 1}) = i)"
    low = text(Value(f"(s.low + i * ({step}))", Type.NUMBER))
    bar = f"'\"' || {low} || '\":' || len({members})"
    bars = f"array_to_string(list_transform(range({count:.0f}), lambda i: {bar}), ',')"
    single = f"'\"' || {text(Value('s.low', Type.NUMBER))} || '\":' || len(s.all)"
    map_ = f"'{{' || CASE WHEN {step} > 0 THEN {bars} ELSE {single} END || '}}'"
    aggregates = (
        f"{{'all': list({number}) FILTER (WHERE {number} IS NOT NULL), "
        f"'low': min({number}), 'high': max({number})}}"
    )
    return Value(f"list_transform([{aggregates}], lambda s: {map_})[1]", Type.STRUCTURE)
