"""The two sides of a comparison: one version of one run each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from tidemark.figures.spread import spread_change
from tidemark.figures.task_logs import unlike
from tidemark.figures.verdicts.rule import ALARM, Margins
from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.figures.verdicts.welch import APART, judge_apart
from tidemark.figures.version_rates import Quantity, VersionRate, change, version_rate
from tidemark.model.labels import canonical, labelled_name
from tidemark.model.metric import Metric
from tidemark.model.numerals import MISSING, decimal, percent_places, supported
from tidemark.model.parameters import Combination, combinations
from tidemark.model.sentences import listed, part_of
from tidemark.model.suite import Test
from tidemark.report.marks import CHANGES, qualified
from tidemark.report.run_report.measured import MeasuredRun, Measurement, measured_run
from tidemark.store.stored_run import StoredRun

USERS = "users"
"""The unit of supported users."""
_MANY = 1_000


class Side(NamedTuple):
    """One version, as one run measured it."""

    run: MeasuredRun
    """The run, with the trials and rates of this version alone."""
    version: str
    name: str
    """The name of the side in the comparison."""

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests of the suite when the run was planned."""
        return self.run.plan.suite.tests

    def reading(self, wanted: Quantity) -> Reading | None:
        """Return the reading of a quantity, None if the suite had no such metric."""
        for test in self.tests:
            for metric, statistic in test.figures():
                own = wanted._replace(test=test.name, metric=metric, statistic=statistic)
                if own.key == wanted.key:
                    rates = self.run.rates_of(own)
                    rate = rates[0] if rates else version_rate(self.run.plan, self.version, own, [])
                    return Reading(own, rate, tuple(self.run.measurements(own)))
        return None


class Reading(NamedTuple):
    """One quantity of one side."""

    quantity: Quantity
    rate: VersionRate
    measurements: tuple[Measurement, ...]

    @property
    def metric(self) -> Metric:
        """The metric of the quantity."""
        return self.quantity.metric

    @property
    def text(self) -> str:
        """The rate in the digits that its spread supports, ``missing`` without one."""
        value = self.rate.value
        if value is None:
            return MISSING
        # People count users one by one.
        if self.metric.unit == USERS:
            return decimal(value, 0 if value == round(value) or value >= _MANY else 1)
        return supported(value, self.rate.spread)[0]

    @property
    def values(self) -> list[float]:
        """The rates of the trials that count, in their order."""
        return [
            measurement.counted
            for measurement in self.measurements
            if measurement.counted is not None
        ]


def value_of(reading: Reading | None) -> float | None:
    """Return the rate of a reading, None without one."""
    return reading.rate.value if reading else None


def text_of(reading: Reading | None) -> str:
    """Return the text of a reading, ``missing`` without one."""
    return reading.text if reading else MISSING


class Pair(NamedTuple):
    """One quantity on both sides; at least one side has its metric."""

    quantity: Quantity
    """The quantity of the new side, or else of the base."""
    base: Reading | None
    new: Reading | None
    verdict: Verdict | None
    """The verdict on both sides; None if they cannot be compared."""
    unlike: bool
    """Whether the machines of both sides differ."""

    @property
    def name(self) -> str:
        """The name of the quantity."""
        return self.quantity.name

    @property
    def title(self) -> str:
        """The test and the name of the quantity in it."""
        return self.quantity.title

    @property
    def metric(self) -> Metric:
        """The metric of the quantity."""
        return self.quantity.metric

    @property
    def effect(self) -> float | None:
        """The change that the verdict judges, 0.1 being 10 % more; None without a verdict."""
        return self.verdict.judgement.effect if self.verdict else None

    @property
    def places(self) -> int:
        """The places of percentages that the interval of the change supports."""
        judged = self.verdict and self.verdict.judgement
        return percent_places(judged.low, judged.high) if judged else 2

    @property
    def is_change(self) -> bool:
        """Whether the verdict is slower or faster."""
        return self.verdict is not None and self.verdict.judgement.word in CHANGES

    @property
    def word(self) -> str:
        """The word of the verdict as people read it, or ``not comparable``."""
        word = self.verdict.judgement.word if self.verdict else "not comparable"
        return qualified(word, unlike=self.unlike)


@dataclass(frozen=True)
class Sides:
    """Both sides."""

    base: Side
    new: Side
    whole: MeasuredRun
    """The whole run of the new side: its verdicts are judged over all of its trials."""
    unlike_machines: bool
    """Whether the machines of both sides differ, which changes rates as a version does."""

    @property
    def both(self) -> tuple[Side, Side]:
        """The base, then the new side."""
        return self.base, self.new

    @property
    def in_one_run(self) -> bool:
        """Whether one run measured both, in turns."""
        return self.base.run.plan.run_id == self.new.run.plan.run_id

    def combinations(self) -> list[Combination]:
        """Return the combinations of axes of both runs, the new side's first."""
        runs = [side.run.plan.request for side in (self.new, self.base)]
        each = [axes for request in runs for axes in combinations(request.axes)]
        return list({canonical(axes): axes for axes in each}.values())

    def tests(self) -> list[str]:
        """Return the names of all tests, in the order of the new side and then of the base."""
        return list(
            dict.fromkeys(test.name for side in (self.new, self.base) for test in side.tests)
        )

    @cached_property
    def pairs(self) -> Sequence[Pair]:
        """Every quantity that either side has, in the order of the tests."""
        return list(self._pairs())

    def _pairs(self) -> Iterator[Pair]:
        own = {q.key: q for side in (self.base, self.new) for q in side.run.quantities}
        named = {q.key[:3] for q in own.values() if q.labels}
        for test in self.tests():
            for side in (self.new, self.base):
                for key in [q.key for q in side.run.quantities if q.test == test and q.key in own]:
                    quantity = own.pop(key)
                    base, new = (each.reading(quantity) for each in self.both)
                    measured = any(each is not None and each.values for each in (base, new))
                    # A side without measurements does not know the labels of the other.
                    if quantity.labels or measured or key[:3] not in named:
                        verdict = self._verdict(base, new)
                        yield Pair(quantity, base, new, verdict, self.unlike_machines)

    def _verdict(self, base: Reading | None, new: Reading | None) -> Verdict | None:
        if base is None or new is None or not base.values or not new.values:
            return None
        if (base.metric.unit, base.metric.direction) != (new.metric.unit, new.metric.direction):
            return None
        if self.in_one_run:
            return self.whole.verdict(self.base.version, self.new.version, new.quantity)
        return self._apart(base, new)

    def _why_apart(self, *values: Sequence[float]) -> str:
        """Return the reason why figures of different runs have no verdict."""
        alone = [
            side.name
            for side, of_side in zip(self.both, values, strict=True)
            if side.run.plan.imported and len(of_side) < 2
        ]
        return f"only one published figure is known of {listed(alone)}" if alone else APART

    @property
    def _alpha(self) -> float:
        """The share of a metric in the changes by chance, over all metrics of the new side."""
        return ALARM / max(1, len(self.new.run.quantities))

    def _apart(self, base: Reading, new: Reading) -> Verdict:
        return Verdict(
            quantity=new.quantity,
            base=self.base.name,
            version=self.new.name,
            judgement=judge_apart(
                base.values, new.values, self._why_apart(base.values, new.values)
            ),
            change=change(base.rate.value, new.rate.value),
            trials_base=len(base.values),
            trials_new=len(new.values),
            margins=Margins.of(new.metric),
            family=1,
            spread=spread_change(base.values, new.values, new.metric.margin, self._alpha),
        )

    def readings(self, pair: Pair) -> tuple[tuple[Reading | None, Side], ...]:
        """Return the reading of a metric on each side, with the side."""
        return (pair.base, self.base), (pair.new, self.new)


def why_incomparable(pair: Pair, sides: Sides) -> str:
    """Return why both sides of a metric cannot be compared, '' if they can."""
    reasons = [
        why for reading, side in sides.readings(pair) if (why := _why_missing(pair, reading, side))
    ]
    if reasons:
        return "; ".join(reasons)
    assert pair.base
    assert pair.new
    before, after = pair.base.metric, pair.new.metric
    if before.unit != after.unit:
        return (
            f"its unit is {before.unit} for {sides.base.name} and {after.unit} for {sides.new.name}"
        )
    if before.direction != after.direction:
        return (
            f"{before.direction} is better for {sides.base.name}, {after.direction} for "
            f"{sides.new.name}"
        )
    return ""


def _why_missing(pair: Pair, reading: Reading | None, side: Side) -> str:
    if reading is None:
        lacks = f"no {pair.quantity.name_in_test} of {pair.quantity.test}"
        measured = f"the suite that measured {side.name} has {lacks}"
        return f"{lacks} of {side.name} is published" if side.run.plan.imported else measured
    if reading.values:
        return ""
    axes, measurements = pair.quantity.axes, reading.measurements
    name = labelled_name(side.name, axes)
    left_out = [each for each in measurements if side.run.is_excluded(each.trial)]
    if not measurements:
        without = " without axes" if side.run.plan.request.axes and not axes else ""
        return f"no trial of {name}{without} is recorded"
    if len(left_out) == len(measurements):
        return f"every trial of {name} is left out on request"
    if {each.trial.status for each in measurements} == {"failed"}:
        count = len(measurements)
        return f"{part_of(count, count, 'trial')} of {name} failed"
    return f"no trial of {name} that counts has this rate"


def sides(base: tuple[StoredRun, str], new: tuple[StoredRun, str]) -> Sides:
    """Return the sides of a comparison, from a run and its version each."""
    (base_run, base_version), (new_run, new_version) = base, new
    names = [base_version, new_version]
    if base_version == new_version:
        names = [f"{version} of {run.plan.run_id}" for run, version in (base, new)]
    new_whole = measured_run(new_run)
    base_whole = new_whole if base_run is new_run else measured_run(base_run)
    before, after = _of_version(base_whole, base_version), _of_version(new_whole, new_version)
    return Sides(
        Side(before, base_version, names[0]),
        Side(after, new_version, names[1]),
        new_whole,
        unlike(before.counting(), after.counting()),
    )


def _of_version(run: MeasuredRun, version: str) -> MeasuredRun:
    planned = tuple(trial for trial in run.plan.trials if trial.version == version)
    return replace(
        run,
        plan=run.plan.model_copy(update={"trials": planned}),
        trials=[trial for trial in run.trials if trial.version == version],
        rates=[rate for rate in run.rates if rate.version == version],
    )
