"""The two sides of a comparison: a version each, as one run measured it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lambdas.report.measured import MeasuredRun, Measurement, measured_run
from lambdas.stored import StoredRun
from lambdas.summary import VersionRate
from lambdas.verdict import Verdict, verdict
from suites.model import Metric, Test


@dataclass(frozen=True)
class Side:
    """One version as one run measured it."""

    run: MeasuredRun
    """Of that version alone."""
    version: str
    name: str
    """What it is called beside the other side."""

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests of its suite, as it was then."""
        return self.run.plan.suite.tests

    def reading(self, test: str, metric: str) -> Reading | None:
        """Return what it gave of a metric, None if its suite had no such metric."""
        for own in self.tests:
            for known in own.metrics:
                if (own.name, known.name) == (test, metric):
                    (rate,) = [
                        rate
                        for rate in self.run.rates
                        if (rate.test, rate.metric) == (test, metric)
                    ]
                    return Reading(known, rate, tuple(self.run.measurements(own, known)))
        return None


@dataclass(frozen=True)
class Reading:
    """One metric of one side."""

    metric: Metric
    rate: VersionRate
    measurements: tuple[Measurement, ...]

    @property
    def values(self) -> list[float]:
        """The rates of the trials that count, in their order."""
        return [
            measurement.counted
            for measurement in self.measurements
            if measurement.counted is not None
        ]


@dataclass(frozen=True)
class Pair:
    """One metric of one test on both sides; at least one of them has it."""

    test: str
    name: str
    base: Reading | None
    new: Reading | None

    @property
    def metric(self) -> Metric:
        """The metric as the new side has it, or else the base."""
        reading = self.new or self.base
        assert reading, f"{self.name} is on neither side"
        return reading.metric

    @property
    def verdict(self) -> Verdict | None:
        """What the trials of both tell; None if they cannot be compared."""
        if self.base is None or self.new is None or not self.base.values or not self.new.values:
            return None
        kinds = {(one.metric.unit, one.metric.direction) for one in (self.base, self.new)}
        if len(kinds) > 1:
            return None
        return verdict(self.base.values, self.new.values, self.metric.direction)


@dataclass(frozen=True)
class Sides:
    """Both sides."""

    base: Side
    new: Side

    @property
    def both(self) -> tuple[Side, Side]:
        """The base, then the new side."""
        return self.base, self.new

    @property
    def in_one_run(self) -> bool:
        """Whether one run measured both, in turns."""
        return self.base.run.plan.run_id == self.new.run.plan.run_id

    def tests(self) -> list[str]:
        """Return the names of all tests, in the order of the new side and then of the base."""
        return list(
            dict.fromkeys(test.name for side in (self.new, self.base) for test in side.tests)
        )

    def pairs(self) -> Iterator[Pair]:
        """Yield every metric that either side has, in the order of the tests."""
        for test in self.tests():
            known = (
                metric.name
                for side in (self.new, self.base)
                for own in side.tests
                if own.name == test
                for metric in own.metrics
            )
            for name in dict.fromkeys(known):
                yield Pair(test, name, self.base.reading(test, name), self.new.reading(test, name))

    def readings(self, pair: Pair) -> tuple[tuple[Reading | None, Side], ...]:
        """Return what each side gave of a metric, with the side."""
        return (pair.base, self.base), (pair.new, self.new)


def sides(base: tuple[StoredRun, str], new: tuple[StoredRun, str]) -> Sides:
    """Return two runs, each with the version that is compared of it, as the sides."""
    (base_run, base_version), (new_run, new_version) = base, new
    names = [base_version, new_version]
    if base_version == new_version:
        names = [f"{version} of {run.plan.run_id}" for run, version in (base, new)]
    return Sides(
        Side(_of_version(base_run, base_version), base_version, names[0]),
        Side(_of_version(new_run, new_version), new_version, names[1]),
    )


def _of_version(run: StoredRun, version: str) -> MeasuredRun:
    measured = measured_run(run)
    planned = tuple(trial for trial in run.plan.trials if trial.version == version)
    return replace(
        measured,
        plan=run.plan.model_copy(update={"trials": planned}),
        trials=[trial for trial in run.trials if trial.version == version],
        rates=[rate for rate in measured.rates if rate.version == version],
    )
