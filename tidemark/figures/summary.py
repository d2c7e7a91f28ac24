"""The rates of a run per version and metric, over its trials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from tidemark.model.exclusions import Exclusions
from tidemark.model.frozen import Frozen
from tidemark.model.plan import Plan
from tidemark.model.results import Rate, TrialResult
from tidemark.model.suite import Metric
from tidemark.model.version_order import version_order


class VersionRate(Frozen):
    """One metric of one version: the mean of its trials' rates."""

    version: str
    test: str
    metric: str
    unit: str
    direction: str
    value: float | None
    """The mean; None if no trial of the version has a rate."""
    spread: float | None
    """Standard deviation of the trials' rates (n - 1); None for fewer than two."""
    trials: int
    planned: int
    samples: int
    change: float | None
    """The change from the version before, 0.1 being 10 % more; None for the first version."""


def summarise(
    plan: Plan, trials: Sequence[TrialResult], exclusions: Exclusions
) -> list[VersionRate]:
    """Return a run's rates by metric and, within it, in version order."""
    counting = [trial for trial in trials if exclusions.reason(trial.trial) is None]
    versions = sorted(plan.request.versions, key=version_order)
    return [
        rate
        for test in plan.suite.tests
        for metric in test.metrics
        for rate in _by_version(plan, test.name, metric, versions, counting)
    ]


def _by_version(
    plan: Plan,
    test: str,
    metric: Metric,
    versions: Sequence[str],
    trials: Sequence[TrialResult],
) -> list[VersionRate]:
    summary: list[VersionRate] = []
    before: float | None = None
    for version in versions:
        rates = [
            rate
            for trial in trials
            if trial.version == version
            for rate in _rates(trial, test, metric.name)
        ]
        values = [rate.value for rate in rates if rate.value is not None]
        value = mean(values) if values else None
        summary.append(
            VersionRate(
                version=version,
                test=test,
                metric=metric.name,
                unit=metric.unit,
                direction=metric.direction,
                value=value,
                spread=spread(values),
                trials=len(values),
                planned=plan.request.repetitions,
                samples=sum(rate.samples for rate in rates if rate.value is not None),
                change=change(before, value),
            )
        )
        before = value
    return summary


def _rates(trial: TrialResult, test: str, metric: str) -> Iterator[Rate]:
    for result in trial.tests:
        if result.test == test:
            yield from (rate for rate in result.rates if rate.metric == metric)


def change(base: float | None, new: float | None) -> float | None:
    """Return the relative change of a figure, 0.1 being 10 % more.

    Return None if one figure is missing or the base is zero.
    """
    return new / base - 1 if new is not None and base else None


# The steps are those of queries/sql/rates_by_version.sql, so that a report and Athena show the same
# figures to the last bit: values are added in ascending order, with a rounding after each.


def mean(values: Sequence[float]) -> float:
    """Return the mean of one value or more."""
    return _sum(sorted(values)) / len(values)


def spread(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation (n - 1); None for fewer than two values."""
    if len(values) < 2:
        return None
    middle = mean(values)
    squares = ((value - middle) * (value - middle) for value in sorted(values))
    return math.sqrt(_sum(squares) / (len(values) - 1))


def _sum(numbers: Iterable[float]) -> float:
    total = 0.0
    for number in numbers:
        total += number
    return total
