"""The pace of runs: how long their parts take, as measured or as declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, pairwise
from statistics import median
from typing import NamedTuple

from tidemark.model.plan import Plan
from tidemark.model.results import TestResult, TrialResult
from tidemark.model.run_spec import RunSpec
from tidemark.model.suite import Suite
from tidemark.money.estimate import declared_seconds

# A first run of a suite may be so much faster or slower than the declared times.
_FASTEST, _SLOWEST = 0.8, 1.4


class Pace(NamedTuple):
    """The pace of a run."""

    tests: float
    """The time of its tests, as a multiple of the declared one."""
    beside: float
    """The time of a trial beside its tests [s]."""
    before: float
    """The time before the first trial, which waits for functions to start [s]."""
    after: float
    """The time after the last trial, in which the report is made [s]."""

    def times(self, factor: float) -> Pace:
        """Return the pace of a run that takes ``factor`` times as long."""
        return Pace(*(factor * part for part in self))

    def trial_seconds(self, request: RunSpec, suite: Suite, at_once: int) -> float:
        """Return the time of a trial [s] if ``at_once`` tasks run side by side."""
        declared = sum(declared_seconds(test, request, at_once) for test in suite.tests)
        return self.tests * declared + self.beside

    def seconds(self, request: RunSpec, suite: Suite, at_once: int) -> float:
        """Return the time of a run [s] if ``at_once`` tasks run side by side."""
        each = self.trial_seconds(request, suite, at_once)
        return request.trials_within(each) * each + self.before + self.after


# On a quiet machine with two cores, `make run` takes as long as its suite declares.
DECLARED = Pace(tests=1.0, beside=0.8, before=2.0, after=2.5)


class Forecast(NamedTuple):
    """The paces that a run is expected to lie between."""

    fast: Pace
    slow: Pace
    is_measured: bool
    """Whether earlier runs or the run itself gave them."""

    def with_tests(self, tests: float) -> Forecast:
        """Return the forecast after some tests took ``tests`` times their declared time."""
        return Forecast(self.fast._replace(tests=tests), self.slow._replace(tests=tests), True)


def forecast(earlier: Sequence[Pace], slowness: float = 1.0) -> Forecast:
    """Return the forecast of a run from the paces of earlier ones of its suite, the newest first.

    ``slowness`` is how many times as long work takes on this machine now as on an idle one. It may
    end soon, or the machine was as busy in the newest run; in the fastest one it was perhaps idle.
    """
    most = max(1.0, slowness)
    if earlier:
        fast, slow = sorted((earlier[0], min(earlier).times(most)))
        return Forecast(fast, slow, is_measured=True)
    least = min(1.0, slowness)
    fast, slow = DECLARED.times(least * _FASTEST), DECLARED.times(most * _SLOWEST)
    return Forecast(fast, slow, is_measured=False)


def measured_pace(
    plan: Plan, trials: Iterable[TrialResult], ended_at: datetime, at_once: int
) -> Pace | None:
    """Return the pace of a run, from some of its trials and its last; None if none is whole."""
    whole = [trial.tests for trial in trials if trial.status == "ok"]
    tests = pace_of_tests(plan, chain.from_iterable(whole), at_once)
    if tests is None:
        return None
    spans = [[_span(test) for test in trial] for trial in whole]
    within = [sum(_gaps(trial)) for trial in spans]
    between = list(_gaps([(trial[0][0], trial[-1][1]) for trial in spans]))
    beside = median(within) + median(between) if between else DECLARED.beside
    before, after = _seconds(plan.started_at, spans[0][0][0]), _seconds(spans[-1][-1][1], ended_at)
    return Pace(tests, beside, before, after)


def pace_of_tests(plan: Plan, tests: Iterable[TestResult], at_once: int) -> float | None:
    """Return the time of measured tests as a multiple of the declared one, None without a test."""
    measured = [test for test in tests if test.status == "ok"]
    spans = [_seconds(*_span(test)) for test in measured]
    suite, request = plan.suite, plan.request
    declared = (declared_seconds(suite.test(test.test), request, at_once) for test in measured)
    return sum(spans) / sum(declared) if spans else None


def _span(test: TestResult) -> tuple[datetime, datetime]:
    """Return the start and the end of a test that was measured."""
    assert test.started_at
    assert test.ended_at
    return test.started_at, test.ended_at


def _gaps(spans: Iterable[tuple[datetime, datetime]]) -> Iterator[float]:
    return (_seconds(ended, begun) for (_, ended), (begun, _) in pairwise(spans))


def _seconds(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds()
