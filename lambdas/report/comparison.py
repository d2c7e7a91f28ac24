"""The rates of the versions, each beside the version before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lambdas.report.blocks import Bullets, Row, Section, Table
from lambdas.report.chart import Column, chart
from lambdas.report.figures import MISSING, figure, percent
from lambdas.report.measured import MeasuredRun, Measurement
from lambdas.summary import VersionRate
from lambdas.verdict import WITHIN, Verdict, by_chance, verdict
from suites.model import Metric, Test

_EXPLANATION = (
    "A rate is the mean of its trials, the spread their standard deviation. The verdict on a "
    "change is that of a comparison of both versions: the same if its 95 % interval stays within "
    f"{WITHIN}, or else faster or slower if that leaves out zero. Min and max are of the samples."
)

_FIGURES = ("Trials", "Samples", "Min", "Max")


@dataclass(frozen=True)
class _Step:
    """A version's rate and that of the version before it, None for the first."""

    before: VersionRate | None
    rate: VersionRate
    told: Verdict | None
    """What the trials of both tell; None if one of them has no rate."""

    @property
    def change(self) -> str:
        """By how much the rate changed."""
        if self.before is None:
            return "first version"
        for one in (self.before, self.rate):
            if one.value is None:
                return f"{MISSING}: {one.version} has no rate"
        if self.rate.change is None:
            return f"{MISSING}: the rate of {self.before.version} is zero"
        return percent(self.rate.change)

    @property
    def verdict(self) -> str:
        """What the trials tell of the change, or why they do not."""
        if self.told is None:
            return "nothing to compare"
        return f"{self.told.said}: {self.told.reason}" if self.told.reason else self.told.said

    @property
    def in_words(self) -> str:
        """The whole step in a few words."""
        if self.before is None:
            return f"{self.rate.version}: {figure(self.rate.value)} {self.rate.unit}"
        return f"{self.rate.version} against {self.before.version}: {self.change}, {self.verdict}"


def in_short(run: MeasuredRun) -> Bullets:
    """Return, for each metric, the changes but for those that are the same for sure."""
    return Bullets(
        tuple(
            f"{metric.name}: {_sentence(_steps(run, test, metric))}." for test, metric in _of(run)
        )
    )


def explanation(run: MeasuredRun) -> str:
    """Return what the figures are, and how many of the run's verdicts chance alone would make."""
    told = (step.told for test, metric in _of(run) for step in _steps(run, test, metric))
    return f"{_EXPLANATION} {by_chance(told)}".rstrip()


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section for each metric: its rates by version, and every sample."""
    for test, metric in _of(run):
        steps, measurements = _steps(run, test, metric), list(run.measurements(test, metric))
        columns = [
            Column(
                step.rate.version,
                step.rate.value,
                step.rate.planned,
                [one for one in measurements if one.trial.version == step.rate.version],
            )
            for step in steps
        ]
        yield Section(metric.name, (_table(metric, steps, measurements), chart(metric, columns)))


def _of(run: MeasuredRun) -> Iterator[tuple[Test, Metric]]:
    return ((test, metric) for test in run.plan.suite.tests for metric in test.metrics)


def _steps(run: MeasuredRun, test: Test, metric: Metric) -> list[_Step]:
    rates = [rate for rate in run.rates if (rate.test, rate.metric) == (test.name, metric.name)]
    values = defaultdict(list)
    for one in run.measurements(test, metric):
        if one.counted is not None:
            values[one.trial.version].append(one.counted)

    def step(before: VersionRate | None, rate: VersionRate) -> _Step:
        base, new = values[before.version] if before else [], values[rate.version]
        return _Step(before, rate, verdict(base, new, metric.direction) if base and new else None)

    return [step(before, rate) for before, rate in zip([None, *rates], rates, strict=False)]


def _sentence(steps: Sequence[_Step]) -> str:
    # Where there is something to compare, the first version's rate alone says nothing.
    told = [step.in_words for step in steps[1:] or steps if step.verdict != "same"]
    return "; ".join(told) or f"the same within {WITHIN}"


def _table(metric: Metric, steps: Sequence[_Step], measurements: Sequence[Measurement]) -> Table:
    return Table(
        caption=f"{metric.name} in {metric.unit} by version; {metric.direction} is better",
        columns=("Version", "Rate", "± spread", "Δ to the version before", "Verdict", *_FIGURES),
        rows=tuple(_row(step, measurements) for step in steps),
        numbers=frozenset({"Rate", "± spread", *_FIGURES}),
    )


def _row(step: _Step, measurements: Sequence[Measurement]) -> Row:
    rate = step.rate
    values = [
        sample.value
        for measurement in measurements
        if measurement.counts and measurement.trial.version == rate.version
        for sample in measurement.samples
        if sample.value is not None
    ]
    return Row(
        (
            rate.version,
            figure(rate.value),
            "one trial" if rate.trials == 1 else figure(rate.spread),
            step.change,
            step.verdict,
            f"{rate.trials} of {rate.planned}",
            str(rate.samples),
            figure(min(values, default=None)),
            figure(max(values, default=None)),
        )
    )
