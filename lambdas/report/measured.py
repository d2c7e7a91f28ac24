"""What a report is about: one run as it is stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lambdas.budget import latest_budget
from lambdas.exclusions import Exclusions
from lambdas.results import Rate, Sample, TestResult, TrialResult
from lambdas.resumes import Resume
from lambdas.stored import StoredRun
from lambdas.summary import VersionRate, summarise
from lambdas.tables import rate_rows
from suites.model import Metric, Test
from suites.plan import Plan, PlannedTrial


@dataclass(frozen=True)
class Measurement:
    """One metric of one trial."""

    trial: TrialResult
    result: TestResult
    rate: Rate | None
    samples: tuple[Sample, ...]
    counts: bool
    """Whether it is part of its version's rate."""

    @property
    def counted(self) -> float | None:
        """Its rate as a part of its version's; None if it is none."""
        return self.rate.value if self.rate and self.counts else None

    def by_task(self) -> Iterator[tuple[int, list[Sample]]]:
        """Yield each task's index and what it logged, in the order in which it did."""
        own: defaultdict[str | None, list[Sample]] = defaultdict(list)
        for sample in self.samples:
            own[sample.task_id].append(sample)
        for task in self.result.tasks:
            yield task.index, own[task.task_id]


@dataclass(frozen=True)
class MeasuredRun:
    """A run as it is stored: its plan, the trials recorded so far, and the rates they gave."""

    plan: Plan
    trials: Sequence[TrialResult]
    rates: Sequence[VersionRate]
    exclusions: Exclusions
    resumes: Sequence[Resume] = ()

    def measurements(self, test: Test, metric: Metric) -> Iterator[Measurement]:
        """Yield what each trial gave of a metric, in the order of the trials."""
        for trial in self.trials:
            for result in trial.tests:
                if result.test != test.name:
                    continue
                rate = next((rate for rate in result.rates if rate.metric == metric.name), None)
                yield Measurement(
                    trial,
                    result,
                    rate,
                    tuple(s for s in result.samples if s.metric == metric.name),
                    rate is not None and rate.value is not None and not self.is_excluded(trial),
                )

    def results(self, test: str) -> Iterator[tuple[TrialResult, TestResult]]:
        """Yield what a test gave in each trial that is not left out, in the order of the trials."""
        for trial in self.trials:
            for result in trial.tests:
                if result.test == test and not self.is_excluded(trial):
                    yield trial, result

    def counting(self) -> list[TrialResult]:
        """Return the trials that figures rest on: those that gave a rate and are not left out."""
        return [
            trial
            for trial in self.trials
            if not self.is_excluded(trial)
            and any(rate.value is not None for test in trial.tests for rate in test.rates)
        ]

    def is_excluded(self, trial: TrialResult) -> bool:
        """Tell whether a trial is left out of every figure."""
        return self.exclusions.reason(trial.trial) is not None

    def unrecorded(self) -> list[PlannedTrial]:
        """Return the trials that were planned and have no result."""
        recorded = {trial.trial for trial in self.trials}
        return [trial for trial in self.plan.trials if trial.trial not in recorded]

    def budget_usd(self) -> float | None:
        """Return what the run might cost when it was last gone on with [USD]; None for no limit."""
        return latest_budget(self.plan, self.resumes)

    def ended_at(self) -> datetime | None:
        """Return when the last test ended; None if there was none."""
        ends = [test.ended_at for trial in self.trials for test in trial.tests if test.ended_at]
        return max(ends, default=None)


def measured_run(run: StoredRun) -> MeasuredRun:
    """Return a run as it was read, with the rates of its versions."""
    rates = summarise(run.plan, rate_rows(run.plan, run.trials, run.exclusions))
    return MeasuredRun(run.plan, run.trials, rates, run.exclusions, run.resumes)
