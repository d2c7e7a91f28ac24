"""A stored run with the rates of its versions, as reports need it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from tidemark.figures.verdicts.version_verdicts import Verdict, verdicts
from tidemark.figures.version_rates import (
    Key,
    Quantity,
    VersionRate,
    counting,
    quantities,
    rate_key,
    summarise,
)
from tidemark.model.comment import Comment
from tidemark.model.labels import canonical
from tidemark.model.parameters import Combination
from tidemark.model.plan import Plan, PlannedTrial, Resume, latest_budget
from tidemark.model.results import Exclusions, Rate, Sample, TaskResult, TestResult, TrialResult
from tidemark.report.grown_functions import Grown
from tidemark.store.stored_run import StoredRun


class Measurement(NamedTuple):
    """One quantity of one trial."""

    trial: TrialResult
    result: TestResult
    rate: Rate | None
    samples: tuple[Sample, ...]
    counts: bool
    """Whether the measurement is part of its version's rate."""
    tasks: Sequence[TaskResult]
    """The tasks that log values of the quantity."""

    @property
    def counted(self) -> float | None:
        """The rate that is part of the version's rate; None if it is not."""
        return self.rate.value if self.rate and self.counts else None

    def by_task(self) -> Iterator[tuple[int, list[Sample]]]:
        """Yield each task's index and samples, in the order in which the task logged them."""
        by_id: defaultdict[str | None, list[Sample]] = defaultdict(list)
        for sample in self.samples:
            by_id[sample.task_id].append(sample)
        for task in self.tasks:
            yield task.index, by_id[task.task_id]


@dataclass(frozen=True)
class MeasuredRun:
    """A stored run: its plan, the trials recorded so far, and their rates."""

    plan: Plan
    trials: Sequence[TrialResult]
    rates: Sequence[VersionRate]
    exclusions: Exclusions
    resumes: Sequence[Resume] = ()
    profiled: Sequence[TrialResult] = ()
    """The profiled trials recorded so far, which have no part in any rate."""
    grown: Sequence[Grown] = ()
    """The functions that their profiles have."""
    comments: Sequence[Comment] = ()
    """What people say of the run, and of comparisons with its versions."""

    @property
    def all_trials(self) -> Sequence[TrialResult]:
        """The trials that count in rates, and behind them the profiled trials."""
        return (*self.trials, *self.profiled)

    @cached_property
    def quantities(self) -> Sequence[Quantity]:
        """The quantities that the trials measured."""
        return quantities(self.plan, self.trials)

    def rates_of(self, quantity: Quantity) -> Sequence[VersionRate]:
        """Return the rates of a quantity, in version order."""
        return self._version_rates[quantity.key]

    @cached_property
    def _version_rates(self) -> Mapping[Key, Sequence[VersionRate]]:
        rates: defaultdict[Key, list[VersionRate]] = defaultdict(list)
        for rate in self.rates:
            rates[rate.key].append(rate)
        return rates

    def measurements(self, quantity: Quantity) -> Iterator[Measurement]:
        """Yield the measurement of a quantity in each trial, in the order of the trials."""
        for trial in (each for each in self.trials if each.axes == quantity.axes):
            for result in trial.tests:
                if result.test != quantity.test:
                    continue
                rate = self._rates.get((trial.trial, quantity.key))
                test = self.plan.suite.test(quantity.test)
                yield Measurement(
                    trial,
                    result,
                    rate,
                    tuple(self._samples.get((trial.trial, _without_statistic(quantity.key)), ())),
                    rate is not None and rate.value is not None and not self.is_excluded(trial),
                    test.tasks_of(quantity.metric.step, result.tasks),
                )

    @cached_property
    def _rates(self) -> Mapping[tuple[int, Key], Rate]:
        return {
            (trial.trial, rate_key(result.test, rate)): rate
            for trial in self.trials
            for result in trial.tests
            for rate in result.rates
        }

    @cached_property
    def _samples(self) -> Mapping[tuple[int, Key], Sequence[Sample]]:
        samples: defaultdict[tuple[int, Key], list[Sample]] = defaultdict(list)
        for trial in self.trials:
            for result in trial.tests:
                for sample in result.samples:
                    key = (result.test, sample.metric, "", canonical(sample.labels))
                    samples[trial.trial, key].append(sample)
        return samples

    def verdict(self, base: str, version: str, quantity: Quantity) -> Verdict:
        """Return the verdict on a quantity of a version against another one of the run."""
        if (base, version) not in self._verdicts:
            judged = verdicts(self, base, version)
            self._verdicts[base, version] = {each.quantity.key: each for each in judged}
        return self._verdicts[base, version][quantity.key]

    def against_base(self, quantity: Quantity, rate: VersionRate) -> Verdict | None:
        """Return the verdict on a version against its base; None if one of them has no rate."""
        bases = [each for each in self.rates_of(quantity) if each.version == rate.base]
        if rate.value is None or not bases or bases[0].value is None:
            return None
        return self.verdict(bases[0].version, rate.version, quantity)

    @cached_property
    def _verdicts(self) -> dict[tuple[str, str], Mapping[Key, Verdict]]:
        """The verdicts so far, by base and version: a report shows each of them several times."""
        return {}

    def results(self, test: str, axes: Combination) -> Iterator[tuple[TrialResult, TestResult]]:
        """Yield the result of a test in each trial under these axes that is not left out."""
        for trial in self.trials:
            for result in trial.tests:
                if (result.test, trial.axes) == (test, axes) and not self.is_excluded(trial):
                    yield trial, result

    def counting(self) -> list[TrialResult]:
        """Return the trials that count in figures: trials with a rate that are not left out."""
        return counting(self.trials, self.exclusions)

    def is_excluded(self, trial: TrialResult) -> bool:
        """Tell whether a trial is left out of every figure."""
        return self.exclusions.reason(trial.trial) is not None

    def unrecorded(self) -> list[PlannedTrial]:
        """Return the planned trials without a result."""
        recorded = {trial.trial for trial in self.trials}
        return [trial for trial in self.plan.trials if trial.trial not in recorded]

    def budget_usd(self) -> float | None:
        """Return the last budget of the run [USD], None without a limit."""
        return latest_budget(self.plan, self.resumes)

    def ended_at(self) -> datetime | None:
        """Return the end of the last test, None without a test."""
        ends = [test.ended_at for trial in self.trials for test in trial.tests if test.ended_at]
        return max(ends, default=None)


def _without_statistic(key: Key) -> Key:
    """Return the key of the samples, which all statistics of a metric share."""
    test, metric, _, labels = key
    return test, metric, "", labels


def measured_run(run: StoredRun) -> MeasuredRun:
    """Return a run as it was read, with the rates of its versions."""
    rates = summarise(run.plan, run.trials, run.exclusions)
    return MeasuredRun(run.plan, run.trials, rates, run.exclusions, run.resumes)
