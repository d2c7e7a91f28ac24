"""What the tasks of a test used of their machine, second by second."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median

from lambdas.report.blocks import Block, Table
from lambdas.report.figures import figure, ranges
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
    return [*charts, *_unknown(test, groups)] or [
        f"What the tasks of {test} used was not measured."
    ]


def _unknown(test: str, groups: Sequence[Group]) -> Iterator[str]:
    """Yield why it is not known of trials what their tasks used, though it was to be."""
    for group in groups:
        trials: defaultdict[str, list[int]] = defaultdict(list)
        for trial, result in group.results:
            if result.usages_unknown:
                trials[result.usages_unknown].append(trial.trial)
        for why, numbers in trials.items():
            yield (
                f"What the tasks of {test} used is not known of {group.name}, trials "
                f"{ranges(numbers)}: {why}."
            )


def _points(result: TestResult, value: _Value) -> Points:
    """Return a point for each period of logging: the mean over the tasks of what each used in it.

    Tasks are logged at moments of their own, so that a moment alone would show one of them.
    """
    by_task: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for one, second in zip(result.usages, result.seconds(result.usages), strict=True):
        used = value(one)
        if second is not None and second >= 0 and used is not None:
            by_task[one.task_id].append((second, used))
    period = _period(by_task.values())
    begun = min((own[0][0] for own in by_task.values()), default=0.0)
    of_period: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for own in by_task.values():
        for place, points in _by_period(own, begun, period).items():
            of_period[place].append(_mean(points))
    return [_mean(of_period[place]) for place in sorted(of_period)]


def _period(tasks: Iterable[Points]) -> float:
    """Return how long after another a task is logged [s]; infinite if none is logged twice.

    That is a minute by Container Insights, and a second on one machine.
    """
    gaps = [
        later - before
        for own in tasks
        for (before, _), (later, _) in pairwise(own)
        if later > before
    ]
    return median(gaps) if gaps else math.inf


def _by_period(own: Points, begun: float, period: float) -> dict[int, list[tuple[float, float]]]:
    """Return the points of a task by the period that each is of, from the first of any task on."""
    first = own[0][0]
    places: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for second, used in own:
        # From its own first point a task's others are whole periods away, but for some jitter.
        place = math.floor((first - begun) / period) + round((second - first) / period)
        places[place].append((second, used))
    return places


def _mean(points: Points) -> tuple[float, float]:
    return fmean(second for second, _ in points), fmean(value for _, value in points)


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
