"""The sizing table of a run: which sizes of a service hold, and the smallest of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tidemark.figures.version_rates import mean
from tidemark.model.labels import canonical, figure_name
from tidemark.model.metric import Metric, Statistic
from tidemark.model.parameters import Combination, combinations
from tidemark.model.plan import Plan
from tidemark.model.results import Exclusions, Rate, TrialResult
from tidemark.model.services import SIZE, Size
from tidemark.model.suite import Suite


class Bounded(NamedTuple):
    """A statistic of a test's metric that a size keeps within a bound."""

    test: str
    metric: Metric
    statistic: Statistic

    @property
    def name(self) -> str:
        """The name of the figure, such as ``latency p99``."""
        return figure_name(self.metric.name, self.statistic, "")


class Held(NamedTuple):
    """A figure of a version at one size, the worst under all labels, and its bound."""

    figure: Bounded
    bound: float
    value: float | None
    """The mean of the trials; None if a trial has no such figure."""
    labels: str
    """The canonical labels of the figure beside the axes, '' without labels."""

    @property
    def holds(self) -> bool:
        """Whether the figure is there and no worse than its bound."""
        if self.value is None:
            return False
        lower = self.figure.metric.direction == "lower"
        return self.value <= self.bound if lower else self.value >= self.bound


class Sized(NamedTuple):
    """A version at one size, under one combination of the other axes."""

    version: str
    others: Combination
    size: str
    sizes: Mapping[str, Size]
    """The size of each service that has sizes."""
    figures: Sequence[Held]
    trials: int
    """The number of its trials that count; without any it is not known whether it holds."""
    memory_used: float | None = None
    """The greatest share of its memory that a service used; None if it has no limit, or if no usage
    is known."""
    smallest: bool = False
    """Whether it is the smallest size that is known to hold."""

    @property
    def holds(self) -> bool:
        """Whether every figure is within its bound."""
        return all(figure.holds for figure in self.figures)


def bounded(suite: Suite) -> list[Bounded]:
    """Return the figures of a suite that have a bound, in its order."""
    return [
        Bounded(test.name, metric, statistic)
        for test in suite.tests
        for metric, statistic in test.figures()
        if statistic in metric.holds
    ]


def sizing(plan: Plan, trials: Sequence[TrialResult], exclusions: Exclusions) -> list[Sized]:
    """Return each version at each size, the smallest size first: by CPU and then by memory.

    A size with a trial that lacks a figure does not hold, nor does one without a trial.
    """
    counted = [trial for trial in trials if exclusions.reason(trial.trial) is None]
    others = {name: values for name, values in plan.request.axes.items() if name != SIZE}
    return [
        row
        for version in plan.request.versions
        for combination in combinations(others)
        for row in _marked([*_rows(plan, version, combination, counted)])
    ]


def _marked(rows: Sequence[Sized]) -> Iterator[Sized]:
    """Yield sizes in ascending order, the smallest of those that hold marked."""
    ascending = sorted(rows, key=_amount)
    smallest = next((row.size for row in ascending if row.holds), None)
    for row in ascending:
        yield row._replace(smallest=row.size == smallest)


def _amount(row: Sized) -> tuple[int, int]:
    sizes = row.sizes.values()
    return sum(size.cpu for size in sizes), sum(size.memory or 0 for size in sizes)


def _rows(
    plan: Plan, version: str, others: Combination, trials: Sequence[TrialResult]
) -> Iterator[Sized]:
    for name in plan.request.axes.get(SIZE, ()):
        axes = {**others, SIZE: name}
        found = [each for each in trials if (each.version, each.axes) == (version, axes)]
        services = plan.suite.services.items()
        sizes = {each: size for each, service in services if (size := service.size(axes))}
        figures = [_worst(plan, figure, found) for figure in bounded(plan.suite)]
        used = _memory_used(found, sizes)
        yield Sized(version, others, name, sizes, figures, len(found), used)


def _memory_used(trials: Sequence[TrialResult], sizes: Mapping[str, Size]) -> float | None:
    """Return the greatest share of its memory that a service with a limit used."""
    shares = [
        usage.memory / memory
        for test in (test for trial in trials for test in trial.tests)
        for limits in [{task.task_id: sizes[task.service].memory for task in test.tasks
                        if task.service in sizes}]
        for usage in test.usages
        if usage.memory is not None and (memory := limits.get(usage.task_id))
    ]  # fmt: skip
    return max(shares, default=None)


def _worst(plan: Plan, figure: Bounded, trials: Sequence[TrialResult]) -> Held:
    """Return the worst figure under all labels; none if a trial has none."""
    bound = figure.metric.holds[figure.statistic]
    most = float(plan.request.parameters[bound]) if isinstance(bound, str) else bound
    rates = [list(_rates(trial, figure)) for trial in trials]
    values: defaultdict[str, list[float]] = defaultdict(list)
    for rate in (rate for each in rates for rate in each):
        beside = {name: text for name, text in rate.labels.items() if name not in plan.request.axes}
        values[canonical(beside)] += [] if rate.value is None else [rate.value]
    if not all(rates) or not values or any(len(each) < len(trials) for each in values.values()):
        return Held(figure, most, None, "")
    means = {labels: mean(each) for labels, each in values.items()}
    worst = (max if figure.metric.direction == "lower" else min)(means, key=means.__getitem__)
    return Held(figure, most, means[worst], worst)


def _rates(trial: TrialResult, figure: Bounded) -> Iterator[Rate]:
    for test in trial.tests:
        for rate in test.rates if test.test == figure.test else ():
            if (rate.metric, rate.statistic) == (figure.metric.name, figure.statistic):
                yield rate
