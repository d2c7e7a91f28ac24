"""The rates of a run by version and quantity, over its trials: means, spreads and changes."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import datetime
from typing import NamedTuple

from tidemark.model.base import Frozen
from tidemark.model.labels import canonical, figure_name
from tidemark.model.metric import Metric
from tidemark.model.parameters import Combination, combinations
from tidemark.model.plan import Plan
from tidemark.model.results import Exclusions, Rate, TestResult, TrialResult
from tidemark.model.suite import Suite

Key = tuple[str, str, str, str]
"""The test, metric, statistic and canonical labels of a quantity."""


class Quantity(NamedTuple):
    """A statistic of a metric of a test, under its labels: a figure of every trial."""

    test: str
    metric: Metric
    statistic: str
    labels: str
    """The canonical labels, '' without labels."""
    axes: Combination
    """The values of axes among the labels, which the trials that measure the quantity have."""
    shares_name: bool = False
    """Whether another test of the suite has a metric of the same name."""

    @property
    def name(self) -> str:
        """The name of the quantity, such as ``latency p99 {operation: create}``.

        The test stands before a name that several tests have.
        """
        return self.title if self.shares_name else self.name_in_test

    @property
    def title(self) -> str:
        """The test and the name of the quantity in it."""
        return f"{self.test}: {self.name_in_test}"

    @property
    def name_in_test(self) -> str:
        """The name of the quantity without its test."""
        return figure_name(self.metric.name, self.statistic, self.labels)

    @property
    def without_labels(self) -> "Quantity":
        """The quantity with names that have no labels, which are columns of a table."""
        return self._replace(labels="")

    @property
    def all_labels(self) -> dict[str, str]:
        """The values of its labels, by name."""
        return json.loads(self.labels) if self.labels else {}

    @property
    def own_labels(self) -> dict[str, str]:
        """The values of its labels beside its axes, by name."""
        return {name: text for name, text in self.all_labels.items() if name not in self.axes}

    @property
    def key(self) -> Key:
        """The names that tell the quantity from any other of its suite."""
        return self.test, self.metric.name, self.statistic, self.labels


class VersionRate(Frozen):
    """One quantity of one version: the mean of its trials' rates."""

    version: str
    test: str
    metric: str
    statistic: str
    labels: str
    """The canonical labels, '' without labels."""
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
    """The change from the version's base, 0.1 being 10 % more; None without a base."""
    least: float | None
    most: float | None
    mean_logarithm: float | None
    """The mean of the natural logarithms; None if a rate has none."""
    first_at: datetime | None
    last_at: datetime | None
    """The first and the last start of the test in a trial with a rate."""
    image_digest: str | None
    """The image that the last of these trials ran; None without an image."""
    value_text: str | None
    """An imported figure digit for digit; None for a mean of several."""
    base: str | None
    """The version that this one is compared with; None without one."""

    @property
    def key(self) -> Key:
        """The key of the quantity."""
        return self.test, self.metric, self.statistic, self.labels


def rate_key(test: str, rate: Rate) -> Key:
    """Return the key of the quantity to which a test's rate belongs."""
    return test, rate.metric, rate.statistic, canonical(rate.labels)


def quantities(plan: Plan, trials: Iterable[TrialResult]) -> list[Quantity]:
    """Return the quantities that trials measured, in the order of the suite and of the labels.

    A metric that no trial measured under some values of axes has a quantity with no other labels.
    """
    labels: defaultdict[Key, set[str]] = defaultdict(set)
    for trial in trials:
        axes = canonical(trial.axes)
        for result in trial.tests:
            for test, metric, statistic, text in (rate_key(result.test, r) for r in result.rates):
                labels[(test, metric, statistic, axes)].add(text)
    shared = shared_names(plan.suite)
    return [
        Quantity(test.name, metric, statistic, text, axes, metric.name in shared)
        for test in plan.suite.tests
        for metric, statistic in test.figures()
        for axes in combinations(plan.request.axes)
        for text in sorted(labels[(test.name, metric.name, statistic, canonical(axes))])
        or [canonical(axes)]
    ]


def shared_names(suite: Suite) -> Set[str]:
    """Return the names of metrics that more than one test of a suite has."""
    times = Counter(metric.name for test in suite.tests for metric in test.metrics)
    return {name for name, count in times.items() if count > 1}


class Measured(NamedTuple):
    """A rate of a trial, with the trial and the test that gave it."""

    trial: TrialResult
    result: TestResult
    rate: Rate
    value: float

    @property
    def key(self) -> Key:
        """The key of the quantity that the rate is of."""
        return rate_key(self.result.test, self.rate)


def measured_rates(trials: Iterable[TrialResult], exclusions: Exclusions) -> Iterator[Measured]:
    """Yield the rates with a value of the trials that are not left out: they count in figures."""
    for trial in trials:
        if exclusions.reason(trial.trial) is None:
            for result in trial.tests:
                for rate in result.rates:
                    if rate.value is not None:
                        yield Measured(trial, result, rate, rate.value)


def counting(trials: Iterable[TrialResult], exclusions: Exclusions) -> list[TrialResult]:
    """Return the trials with a rate that counts in figures."""
    return [trial for trial in trials if any(measured_rates([trial], exclusions))]


def summarise(
    plan: Plan,
    trials: Sequence[TrialResult],
    exclusions: Exclusions,
    versions: Sequence[str] | None = None,
) -> list[VersionRate]:
    """Return a run's rates by quantity and, within it, by version.

    ``versions`` are by default the request's, in their order.
    """
    named = plan.ascending if versions is None else versions
    rates: defaultdict[tuple[str, Key], list[Measured]] = defaultdict(list)
    for each in measured_rates(trials, exclusions):
        rates[each.trial.version, each.key].append(each)
    summary: list[VersionRate] = []
    for quantity in quantities(plan, trials):
        for version in named:
            base = plan.bases.get(version)
            of_base = rates[base, quantity.key] if base else ()
            found = rates[version, quantity.key]
            summary.append(version_rate(plan, version, quantity, found, of_base))
    return summary


def version_rate(
    plan: Plan,
    version: str,
    quantity: Quantity,
    rates: Sequence[Measured],
    of_base: Sequence[Measured] = (),
) -> VersionRate:
    """Return the rate of a version from the rates of its trials and the rates of its base."""
    values, base = ([each.value for each in side] for side in (rates, of_base))
    value = mean(values) if values else None
    starts = [each.result.started_at for each in rates if each.result.started_at]
    return VersionRate(
        version=version,
        test=quantity.test,
        metric=quantity.metric.name,
        statistic=quantity.statistic,
        labels=quantity.labels,
        unit=quantity.metric.unit,
        direction=quantity.metric.direction,
        value=value,
        spread=spread(values),
        least=min(values, default=None),
        most=max(values, default=None),
        mean_logarithm=mean_logarithm(values),
        trials=len(values),
        planned=_planned(plan, version, quantity),
        samples=sum(each.rate.samples for each in rates),
        first_at=min(starts, default=None),
        last_at=max(starts, default=None),
        image_digest=rates[-1].result.image_digest if rates else None,
        value_text=rates[0].rate.value_text if len(rates) == 1 else None,
        base=plan.bases.get(version),
        change=change(mean(base) if base else None, value),
    )


def _planned(plan: Plan, version: str, quantity: Quantity) -> int:
    """Return the number of trials of a version that its run needs for a quantity."""
    if plan.request.until is None:
        return plan.request.repetitions
    axes = quantity.axes
    return sum(trial.version == version and trial.axes == axes for trial in plan.trials)


def change(base: float | None, new: float | None) -> float | None:
    """Return the relative change of a figure, 0.1 being 10 % more.

    Return None if one figure is missing or the base is zero.
    """
    return new / base - 1 if new is not None and base else None


# Values are added in ascending order, so that the order of trials changes no bit of a figure.


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


def mean_logarithm(values: Sequence[float]) -> float | None:
    """Return the mean of the natural logarithms of values; None if a value has none."""
    if not values or min(values) <= 0:
        return None
    return mean([math.log(value) for value in values])


def _sum(numbers: Iterable[float]) -> float:
    total = 0.0
    for number in numbers:
        total += number
    return total
