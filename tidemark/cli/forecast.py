"""The time and the cost of a run: a forecast before it, which the run corrects while it goes on."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from itertools import chain, islice, pairwise
from statistics import median
from typing import NamedTuple

from tidemark.cli.target import Target, stored
from tidemark.cli.this_machine import starting_seconds
from tidemark.model.numerals import duration
from tidemark.model.plan import Estimate, Plan, PlannedTrial
from tidemark.model.results import TestResult, TrialResult
from tidemark.model.run_spec import RunSpec
from tidemark.model.suite import Suite
from tidemark.money.estimate import declared_seconds
from tidemark.store.bucket import Bucket, Damaged
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import finished_tests, newest_runs, read_trial, recorded_trials
from tidemark.store.stored_plan import find_plan

# A first run of a suite may be so much faster or slower than the declared times: authors round the
# time of a short test up, and its start takes less here than the overhead that is added to it.
_FASTEST, _SLOWEST = 0.5, 1.4
_MOST_RUNS, _MOST_TRIALS = 3, 10
# Versions that are in a cache already.
_PREPARING_SECONDS = 0.5
# Work that needs a core alone: zlib releases Python's lock.
_TEXT = bytes(range(256)) * 4096
_ROUNDS = 100
# The time of the work on an idle core of the machine that the declared times of suites are from.
_IDLE_SECONDS = 0.3
_ASK_SECONDS = 2.0
_LATELY = 4
_CLOSE = 1.25


def time_to_end(request: RunSpec, suite: Suite, target: Target, expected: Estimate) -> str:
    """Return about how long a run takes from now on."""
    if target.stack is not None:
        return f"{bound(expected)} {duration(expected.seconds)}"
    slow = slowness(request, target)
    outlook = forecast(_earlier(suite, target), slow)
    starting = starting_seconds(target.state) + _PREPARING_SECONDS * len(request.possible)
    least, most = (
        factor * starting + pace.seconds(request, suite, target.at_once)
        for factor, pace in ((1.0, outlook.fast), (max(1.0, slow), outlook.slow))
    )
    if expected.basis == "time limits" and not outlook.is_measured:
        return f"its first trial tells how long, at most {duration(most)}"
    if expected.basis == "most repetitions":
        return f"at most {duration(most)}"
    unknown = "" if outlook.is_measured else " (the first run here)"
    return f"{around(least, most)}{unknown}"


def _earlier(suite: Suite, target: Target) -> Sequence[Pace]:
    """Return the paces of the suite's runs in the state folder, none before the first run."""
    if target.is_empty:
        return ()
    with stored(target) as store:
        return earlier_paces(store.bucket, suite.name, target.at_once)


def around(least: float, most: float) -> str:
    """Return a time between two [s]: ``about 2 min 5 s``, or ``about 2 to 5 min``.

    One time is within 25 % of both.
    """
    if most <= _CLOSE**2 * least:
        return f"about {duration(math.sqrt(least * most))}"
    low, unit_low = _rough(least)
    high, unit_high = _rough(most)
    if not float(low):
        return f"at most {high} {unit_high}"
    return f"about {low}{'' if unit_low == unit_high else f' {unit_low}'} to {high} {unit_high}"


def _rough(seconds: float) -> tuple[str, str]:
    """Return a time in two digits at most, and its unit: whole minutes would be a third off."""
    if seconds < 90:
        return f"{seconds:.0f}", "s"
    minutes = seconds / 60
    return (f"{minutes:.2g}", "min") if minutes < 90 else (f"{minutes / 60:.1f}", "h")


def cost(expected: Estimate, share: float = 1.0) -> str:
    """Return the cost of a share of a run on AWS, ``about 0.05 USD``, or its upper limit."""
    return f"{bound(expected)} {share * expected.usd:,.2f} USD"


def bound(expected: Estimate) -> str:
    """Return ``about``, or ``at most`` for an estimate from time limits."""
    return "about" if expected.basis == "declared times" else "at most"


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
    """Return the forecast of a run from the paces of its suite's earlier runs, the newest first.

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


def earlier_paces(bucket: Bucket, suite: str, at_once: int) -> list[Pace]:
    """Return the pace of each of a suite's newest measured runs, the newest first.

    ``at_once`` tasks run side by side.
    """
    paces = (_pace(bucket, run_id, at_once) for run_id in newest_runs(bucket, suite))
    return list(islice((pace for pace in paces if pace), _MOST_RUNS))


def _pace(bucket: Bucket, run_id: str, at_once: int) -> Pace | None:
    """Return the pace of a run, None if it measured nothing or is damaged."""
    with suppress(Damaged):
        plan, outcome = find_plan(bucket, run_id), find_outcome(bucket, run_id)
        if plan and outcome and plan.imported is None:
            recorded = recorded_trials(bucket, run_id)
            some = sorted({*recorded[:_MOST_TRIALS], *recorded[-1:]})
            trials = (read_trial(bucket, run_id, number) for number in some)
            return measured_pace(plan, trials, outcome.ended_at, at_once)
    return None


def slowness(request: RunSpec, target: Target) -> float:
    """Return how many times as long the tasks of a run take here now as on an idle machine.

    Return 1 for a run in an account.
    """
    if target.stack is not None:
        return 1.0
    start = time.monotonic()
    threads = min(target.at_once, request.tasks)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(_work, range(threads)))
    return (time.monotonic() - start) / _IDLE_SECONDS


def _work(_: int) -> None:
    for _ in range(_ROUNDS):
        zlib.compress(_TEXT)


class Expected(NamedTuple):
    """The expected times of a run [s]."""

    trial: float
    before: float
    """The time before the first trial."""
    after: float
    """The time after the last trial."""


def countdown(
    recorded: Sequence[float], left: int, elapsed: float, fast: Expected, slow: Expected
) -> str:
    """Return a text with the ``elapsed`` time [s] and about the time until the end of an execution.

    ``recorded`` has the time from the start to the record of each trial that is done [s], ``left``
    is the number of the others. Until two trials are done, the run is expected to be between
    ``fast`` and ``slow``, since the first trial waits for functions to start. Then it is expected
    to be as fast as the last trials, since the load of a machine changes.
    """
    lately = [after - before for before, after in pairwise(recorded[-1 - _LATELY :])]
    ends = (min(lately), max(lately)) if lately else (fast.trial, slow.trial)
    last = recorded[-1] if recorded else None
    least, most = (
        _until_end(elapsed, left, one._replace(trial=each), last)
        for each, one in zip(ends, (fast, slow), strict=True)
    )
    text = f"elapsed {duration(elapsed)}"
    return f"{text}, left {around(least, most)}" if most > 0 else text


def _until_end(elapsed: float, trials: int, expected: Expected, last: float | None) -> float:
    """Return the expected time to the end [s], without more of a trial that is overdue."""
    start = expected.before if last is None else last
    left = start + trials * expected.trial + expected.after - elapsed
    overdue = (trials - 1) * expected.trial + expected.after if trials else 0.0
    return max(left, overdue)


class Outlook:
    """The forecast of a run, which the tests of its first trial correct one after the other."""

    def __init__(self, bucket: Bucket, plan: Plan, target: Target) -> None:
        self._bucket, self._plan, self._at_once = bucket, plan, target.at_once
        paces = earlier_paces(bucket, plan.suite.name, target.at_once)
        self._forecast = forecast(paces, slowness(plan.request, target))
        self._first: int | None = None
        self._measured, self._asked_at = 0, -math.inf

    def bounds(self, trial: PlannedTrial | None, now: float) -> tuple[Expected, Expected]:
        """Return the least and the most to expect during a trial; ``now`` is monotonic time [s]."""
        if self._first is None and trial:
            self._first = trial.trial
        open_tests = self._measured < len(self._plan.suite.tests)
        if self._first and open_tests and now - self._asked_at >= _ASK_SECONDS:
            self._asked_at = now
            self._correct(finished_tests(self._bucket, self._plan.run_id, self._first))
        return self._expected(self._forecast.fast), self._expected(self._forecast.slow)

    def _correct(self, tests: Collection[TestResult]) -> None:
        self._measured = len(tests)
        if pace := pace_of_tests(self._plan, tests, self._at_once):
            self._forecast = self._forecast.with_tests(pace)

    def _expected(self, pace: Pace) -> Expected:
        request, suite = self._plan.request, self._plan.suite
        return Expected(pace.trial_seconds(request, suite, self._at_once), pace.before, pace.after)
