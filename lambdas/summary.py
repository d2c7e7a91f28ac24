"""The rates of a run per version and metric, over its trials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from suites.model import Frozen, Metric
from suites.plan import Plan
from suites.versions import version_order


class VersionRate(Frozen):
    """One metric of one version: the mean of its trials' rates."""

    version: str
    test: str
    metric: str
    unit: str
    direction: str
    value: float | None
    """None if no trial of the version gave a rate."""
    spread: float | None
    """Standard deviation of the trials' rates (n - 1); None for fewer than two."""
    trials: int
    planned: int
    samples: int
    change: float | None
    """Against the version before, as a ratio less one; None for the first."""


def summarise(plan: Plan, rows: Iterable[Mapping[str, Any]]) -> list[VersionRate]:
    """Return a run's rates by metric and, within it, in version order."""
    known = list(rows)
    versions = sorted(plan.request.versions, key=version_order)
    return [
        rate
        for test in plan.suite.tests
        for metric in test.metrics
        for rate in _by_version(plan, test.name, metric, versions, known)
    ]


def _by_version(
    plan: Plan,
    test: str,
    metric: Metric,
    versions: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
) -> list[VersionRate]:
    found: list[VersionRate] = []
    before: float | None = None
    for version in versions:
        measured = [
            row
            for row in rows
            if (row["version"], row["test"], row["metric"]) == (version, test, metric.name)
            and row["value"] is not None
            and not row["excluded"]
        ]
        values = [row["value"] for row in measured]
        value = mean(values) if values else None
        found.append(
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
                samples=sum(row["samples"] for row in measured),
                change=change(before, value),
            )
        )
        before = value
    return found


def change(base: float | None, new: float | None) -> float | None:
    """Return by how much a figure changed, 0.1 being 10 % more.

    None if one is missing or the base is zero: of nothing there is no share.
    """
    return new / base - 1 if new is not None and base else None


# By the very steps of queries/sql/rates_by_version.sql, so that a report and Athena show the same
# figures to the last bit: added in ascending order, with a rounding after each.


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
