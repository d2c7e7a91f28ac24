"""SQL for a series of numbers in ``stats``: its rate of change and its histogram.

Source: AWS documentation, CloudWatch Logs Insights query syntax: time-series functions. AWS
documents neither the two values of a rate nor the format of a histogram.
"""

from __future__ import annotations

from cwli.insights.values import ArgumentError, Type, Value, finite, text

# AWS documents no limit.
_MOST_RANGES = 100


def rate(time: Value, pointer: Value, number: Value, period: Value) -> Value:
    """Return SQL for the change per ``period`` from the earliest to the latest number.

    Raises
    ------
    ArgumentError
        If the period is a calendar period, which has no fixed length.
    """
    if period.constant is None:
        raise ArgumentError("the period must be of days or shorter", 3)
    present = f"FILTER (WHERE {number} IS NOT NULL AND {time} IS NOT NULL)"
    latest, earliest = (
        f"{edge}({number}, ({time}, {pointer})) {present}" for edge in ("arg_max", "arg_min")
    )
    elapsed = f"nullif(max({time}) {present} - min({time}) {present}, 0)"
    return finite(f"({latest} - {earliest}) / {elapsed} * {period}")


def histogram(number: Value, ranges: Value) -> Value:
    """Return SQL for a map from the lower end of equally wide ranges to their counts of numbers.

    Raises
    ------
    ArgumentError
        If ``ranges`` is not a whole number from 1 to 100.
    """
    count = ranges.constant
    if not isinstance(count, float) or count not in range(1, _MOST_RANGES + 1):
        raise ArgumentError(f"the number of ranges must be whole, from 1 to {_MOST_RANGES}", 1)
    # Equal numbers have one range. With a struct, the SQL names each aggregate once.
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
