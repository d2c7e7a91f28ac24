"""Lines of bars: the numbers of a result over the bins of its times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from math import isfinite

from tidemark.model.sentences import visible

_BARS = "▁▂▃▄▅▆▇█"
_MOST_BINS = 100

Row = Mapping[str, str]


def lines_of_bars(columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Return a line for each column of numbers, if the first column has a bin of each row.

    A bin without a row is blank. The lowest bar is for 0, or for the least number below it.
    """
    bins = [column for column in columns[:1] if not column.startswith("@")]
    places = _places([_time(row.get(column, "")) for column in bins for row in rows])
    return [
        line
        for column in (columns[1:] if places else ())
        if (line := _line(column, places, [row.get(column) for row in rows]))
    ]


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f")
    except ValueError:
        return None


def _places(times: Sequence[datetime | None]) -> list[int]:
    """Return the place of each time among the bins; none unless there are 2 to 100 bins."""
    known = sorted({time for time in times if time})
    if len(known) < 2 or len(known) < len(times):
        return []
    step = min(later - earlier for earlier, later in pairwise(known))
    places = [round((time - known[0]) / step) for time in times if time]
    return places if max(places) < _MOST_BINS else []


def _line(column: str, places: Sequence[int], cells: Sequence[str | None]) -> str:
    """Return the bars of a column after its name, '' if it has other values than numbers."""
    try:
        numbers = {place: float(cell) for place, cell in zip(places, cells, strict=True) if cell}
    except ValueError:
        return ""
    least, most = min([0.0, *numbers.values()]), max([0.0, *numbers.values()])
    if not all(map(isfinite, (most - least, *numbers.values()))):
        return ""
    height = (most - least) or 1.0
    bars = (
        _bar((numbers[place] - least) / height) if place in numbers else " "
        for place in range(max(places) + 1)
    )
    return f"{visible(column)}: {''.join(bars)} from {least:g} to {most:g}"


def _bar(share: float) -> str:
    return _BARS[round(share * (len(_BARS) - 1))]
