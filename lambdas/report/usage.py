"""What the tasks of a test used of their machine, second by second."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from lambdas.report.blocks import Block, Table
from lambdas.report.figures import figure
from lambdas.report.lines import Group, Line, Points, by_trial, lines
from lambdas.results import TestResult, Usage

_MB = 10**6
_Value = Callable[[Usage], float | None]


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else (first + second) / _MB


# What is drawn, with its unit.
_DRAWN: Mapping[str, _Value] = {
    "CPU [vCPU]": lambda usage: usage.cpu,
    "memory [MiB]": lambda usage: usage.memory,
    "network, in and out [MB/s]": lambda usage: _sum(usage.network_in, usage.network_out),
    "disk, read and written since the point before [MB]": lambda usage: _sum(
        usage.disk_read, usage.disk_written
    ),
}


def usage(test: str, groups: Sequence[Group]) -> list[Block]:
    """Return a chart of each thing that the tasks of a test used; a sentence if none is known."""
    charts: list[Block] = []
    for name, value in _DRAWN.items():
        drawn = [
            Line(group.name, trial.trial, points)
            for group in groups
            for trial, result in group.results
            if (points := _points(result, value))
        ]
        if drawn:
            caption = f"{name} of the tasks of {test}: the mean over the tasks of a trial."
            table = _table(test, name, drawn)
            charts.append(lines(_capitalised(caption), groups, drawn, name, table))
    return charts or [f"What the tasks of {test} used was not measured."]


def _points(result: TestResult, value: _Value) -> Points:
    """Return each second in which something was logged, with the mean over the tasks."""
    by_second: defaultdict[int, list[float]] = defaultdict(list)
    for one, second in zip(result.usages, result.seconds(result.usages), strict=True):
        used = value(one)
        if second is not None and second >= 0 and used is not None:
            by_second[round(second)].append(used)
    return [(float(second), fmean(by_second[second])) for second in sorted(by_second)]


def _table(test: str, name: str, drawn: Sequence[Line]) -> Table:
    return by_trial(
        f"{_capitalised(name)} of the tasks of {test}, by trial",
        ("Mean", "Largest", "Points"),
        drawn,
        lambda points: (
            figure(fmean(value for _, value in points)),
            figure(max(value for _, value in points)),
            str(len(points)),
        ),
    )


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]
