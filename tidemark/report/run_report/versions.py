"""The rates of a run's versions, each compared with the version before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidemark.figures.summary import VersionRate
from tidemark.figures.verdict import WITHIN, Verdict, by_chance, judge_change
from tidemark.model.suite import Metric, Test
from tidemark.report.blocks import Bullets, Row, Section, Table
from tidemark.report.numbers import MISSING, figure, percent
from tidemark.report.run_report.measured import MeasuredRun, Measurement
from tidemark.report.samples_chart import Column, chart

_EXPLANATION = (
    "A rate is the mean of its trials, and the spread is their standard deviation. The verdict "
    "compares a version with the version before it: the same if the 95 % interval of the change "
    f"stays within {WITHIN}, otherwise faster or slower if the interval excludes zero. Min and max "
    "are those of the samples."
)

_FIGURES = ("Trials", "Samples", "Min", "Max")


@dataclass(frozen=True)
class _Step:
    """A version's rate and that of the version before it, None for the first."""

    before: VersionRate | None
    rate: VersionRate
    verdict: Verdict | None
    """The verdict on both; None if one of them has no rate."""

    @property
    def change(self) -> str:
        """The change of the rate in words."""
        if self.before is None:
            return "first version"
        for rate in (self.before, self.rate):
            if rate.value is None:
                return f"{MISSING}: {rate.version} has no rate"
        if self.rate.change is None:
            return f"{MISSING}: the rate of {self.before.version} is zero"
        return percent(self.rate.change)

    @property
    def conclusion(self) -> str:
        """The verdict in words, with the reason if the trials cannot tell."""
        if self.verdict is None:
            return "nothing to compare"
        word, reason = self.verdict.word, self.verdict.reason
        return f"{word}: {reason}" if reason else word

    @property
    def in_words(self) -> str:
        """The step in a few words."""
        if self.before is None:
            return f"{self.rate.version}: {figure(self.rate.value)} {self.rate.unit}"
        return (
            f"{self.rate.version} against {self.before.version}: {self.change}, {self.conclusion}"
        )


def in_short(run: MeasuredRun) -> Bullets:
    """Return the changes of each metric, except changes with the verdict same."""
    return Bullets(
        tuple(
            f"{metric.name}: {_sentence(_steps(run, test, metric))}." for test, metric in _of(run)
        )
    )


def explanation(run: MeasuredRun) -> str:
    """Return what the figures mean, and how many verdicts chance alone may make."""
    verdicts = (step.verdict for test, metric in _of(run) for step in _steps(run, test, metric))
    return f"{_EXPLANATION} {by_chance(verdicts)}".rstrip()


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section for each metric: its rates by version, and every sample."""
    for test, metric in _of(run):
        steps, measurements = _steps(run, test, metric), list(run.measurements(test, metric))
        columns = [
            Column(
                step.rate.version,
                step.rate.value,
                step.rate.planned,
                [each for each in measurements if each.trial.version == step.rate.version],
            )
            for step in steps
        ]
        yield Section(metric.name, (_table(metric, steps, measurements), chart(metric, columns)))


def _of(run: MeasuredRun) -> Iterator[tuple[Test, Metric]]:
    return ((test, metric) for test in run.plan.suite.tests for metric in test.metrics)


def _steps(run: MeasuredRun, test: Test, metric: Metric) -> list[_Step]:
    rates = [rate for rate in run.rates if (rate.test, rate.metric) == (test.name, metric.name)]
    values = defaultdict(list)
    for measurement in run.measurements(test, metric):
        if measurement.counted is not None:
            values[measurement.trial.version].append(measurement.counted)

    def step(before: VersionRate | None, rate: VersionRate) -> _Step:
        base, new = values[before.version] if before else [], values[rate.version]
        return _Step(
            before, rate, judge_change(base, new, metric.direction) if base and new else None
        )

    return [step(before, rate) for before, rate in zip([None, *rates], rates, strict=False)]


def _sentence(steps: Sequence[_Step]) -> str:
    # The first version's rate alone is news only if there is no other version.
    changes = [step.in_words for step in steps[1:] or steps if step.conclusion != "same"]
    return "; ".join(changes) or f"the same within {WITHIN}"


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
            step.conclusion,
            f"{rate.trials} of {rate.planned}",
            str(rate.samples),
            figure(min(values, default=None)),
            figure(max(values, default=None)),
        )
    )
