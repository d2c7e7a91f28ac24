"""The charts of the resources that the tasks of a test used over time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from statistics import fmean, median

from tidemark.model.numerals import ranges
from tidemark.model.results import TestResult, Usage
from tidemark.report.blocks import Block
from tidemark.report.charts import Group, Line, Points, lines, means_and_largest

_MB = 10**6
_Value = Callable[[Usage], float | None]


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else (first + second) / _MB


# The charts, by name with unit.
_CHARTS: Mapping[str, _Value] = {
    "CPU [vCPU]": lambda usage: usage.cpu,
    "memory [MiB]": lambda usage: usage.memory,
    "network, in and out [MB/s]": lambda usage: _sum(usage.network_in, usage.network_out),
    "disk, read and written since the point before [MB]": lambda usage: _sum(
        usage.disk_read, usage.disk_written
    ),
}


def usage(test: str, groups: Sequence[Group]) -> list[Block]:
    """Return the charts of a test's usage, and sentences on usage that is not known.

    The tasks of each service have charts of their own, before the charts of the test.
    """
    results = [result for group in groups for _, result in group.results]
    services = {task.service for result in results for task in result.tasks if task.service}
    charts = [
        _chart(f"{service or 'the tasks'} of {test}", name, drawn, groups)
        for service, name in product([*sorted(services), ""], _CHARTS)
        if (drawn := list(_lines(groups, service, _CHARTS[name])))
    ]
    return [*charts, *_unknown(test, groups)] or [
        f"There is no resource usage of the tasks of {test} to draw."
    ]


def _chart(owner: str, name: str, drawn: Sequence[Line], groups: Sequence[Group]) -> Block:
    title = _capitalised(f"{name} of {owner}")
    table = means_and_largest(f"{title}, by trial", drawn)
    caption = f"{title}: the mean over the tasks of a trial."
    return lines(caption, groups, drawn, name, table)


def _lines(groups: Sequence[Group], service: str, value: _Value) -> Iterator[Line]:
    for group in groups:
        for trial, result in group.results:
            if points := _points(result, service, value):
                yield Line(group.name, trial.trial, points)


def _unknown(test: str, groups: Sequence[Group]) -> Iterator[str]:
    """Yield the reasons why logged usage could not be read, with the trials of each reason."""
    for group in groups:
        trials: defaultdict[str, list[int]] = defaultdict(list)
        for trial, result in group.results:
            if result.usages_unknown:
                trials[result.usages_unknown].append(trial.trial)
        for why, numbers in trials.items():
            yield (
                f"The resource usage of the tasks of {test} is not known for {group.name}, trials "
                f"{ranges(numbers)}: {why}."
            )


def _points(result: TestResult, service: str, value: _Value) -> Points:
    """Return a point for each logging period: the mean usage over the tasks of a service.

    The service '' has the tasks of the test itself.

    The usages of different tasks are logged at different moments, so that only a period has all of
    them.
    """
    by_task: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    own = {task.task_id for task in result.tasks if task.service == service}
    seconds = result.seconds(entry.logged_at for entry in result.usages)
    for entry, second in zip(result.usages, seconds, strict=True):
        amount = value(entry)
        if entry.task_id in own and second is not None and second >= 0 and amount is not None:
            by_task[entry.task_id].append((second, amount))
    period = _period(by_task.values())
    start = min((points[0][0] for points in by_task.values()), default=0.0)
    of_period: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for points in by_task.values():
        for place, in_period in _by_period(points, start, period).items():
            of_period[place].append(_mean(in_period))
    return [_mean(of_period[place]) for place in sorted(of_period)]


def _period(tasks: Iterable[Points]) -> float:
    """Return the time between two log events of a task [s]; infinite if no task has two.

    Container Insights logs once a minute, one machine once a second.
    """
    gaps = [
        later - before
        for points in tasks
        for (before, _), (later, _) in pairwise(points)
        if later > before
    ]
    return median(gaps) if gaps else math.inf


def _by_period(points: Points, start: float, period: float) -> dict[int, list[tuple[float, float]]]:
    """Return the points of a task by the number of their period since ``start``."""
    first = points[0][0]
    places: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for second, amount in points:
        # The points of a task are whole periods after its first point, but for some jitter.
        place = math.floor((first - start) / period) + round((second - first) / period)
        places[place].append((second, amount))
    return places


def _mean(points: Points) -> tuple[float, float]:
    return fmean(second for second, _ in points), fmean(value for _, value in points)


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]
