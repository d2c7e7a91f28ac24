"""The rest of an active run: its missing trials, and the time until its end."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from tidemark.cli.machine_load import slowness
from tidemark.cli.target import Target
from tidemark.cli.wording import around
from tidemark.client.earlier_runs import earlier_paces
from tidemark.figures.verdicts.needed_trials import with_next_comparison
from tidemark.figures.verdicts.power import missing
from tidemark.figures.verdicts.sequential_run import (
    SequentialRun,
    awaited,
    criteria,
    ends,
    finding,
    following,
    is_between,
    judged,
    settled,
    undecided,
    why_untold,
)
from tidemark.figures.version_rates import Quantity
from tidemark.model.numerals import duration
from tidemark.model.parameters import count
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.results import TestResult
from tidemark.money.pace import Pace, forecast, pace_of_tests
from tidemark.store.bucket import Bucket
from tidemark.store.run_objects import finished_tests
from tidemark.store.stored_run import read_standing


class Ahead(NamedTuple):
    """The rest of a run."""

    trial: PlannedTrial | None
    """The current trial; None after the last one."""
    trials: int
    """The number of trials that are left; an estimate for a run until decided."""
    decided: tuple[str, ...] = ()
    """The decided verdicts in words."""
    open: int = 0
    """The number of verdicts that are not decided."""


def ahead(bucket: Bucket, plan: Plan, known: Collection[int]) -> Ahead:
    """Return what is left of a run whose trials ``known`` are recorded."""
    if plan.request.until is None:
        left = [trial for trial in plan.all_trials if trial.trial not in known]
        return Ahead(left[0] if left else None, len(left))
    standing = read_standing(bucket, plan.run_id)
    if known and not standing.trials:  # the standing is deleted when the run ends
        return Ahead(None, 0)
    standing = settled(standing, plan)
    plan = with_next_comparison(plan, standing)
    profiled = [trial for trial in plan.profiled if trial.trial not in known]
    left = [trial for trial in following(standing, plan) if trial.trial not in known] + profiled
    decided = tuple(_decided(standing, plan))
    total = len(plan.compared) * len(awaited(plan))
    trials = _expected(standing, plan) + len(profiled)
    return Ahead(left[0] if left else None, trials, decided, total - len(decided))


def _decided(standing: SequentialRun, plan: Plan) -> Iterator[str]:
    """Yield each decided verdict; an alarm is none until new pairs confirm it."""
    for version in plan.compared:
        for quantity in awaited(plan):
            if found := finding(standing, plan, version, quantity):
                judgement = judged(standing, plan, version, quantity)
                why = why_untold(standing, plan, version, quantity)
                reason = f": {why}" if found == "cannot tell" else ""
                confirmed = " new" if standing.course(version, quantity).again else ""
                told = f"{found} after {judgement.pairs}{confirmed} pairs{reason}"
                yield f"decided  {version:>8}  {quantity.name} {told}"


def _expected(standing: SequentialRun, plan: Plan) -> int:
    """Return about how many trials are left if rates change and scatter as before."""
    versions = undecided(standing, plan)
    repetitions = [
        _missing(standing, plan, version, quantity)
        for version in versions
        for quantity in awaited(plan)
        if finding(standing, plan, version, quantity) is None
    ]
    measured = {plan.request.baseline, plan.request.canary, *versions} - {None}
    return len(measured) * count(plan.request.axes) * max(repetitions, default=0)


def _missing(standing: SequentialRun, plan: Plan, version: str, quantity: Quantity) -> int:
    course, between = standing.course(version, quantity), ends(standing, plan)
    if between and is_between(plan, version, quantity):
        return between.missing(course.first)
    rule = course.of_stage(criteria(plan, quantity))
    return missing(course.pairs, rule) or rule.most - course.pairs.count


_ASK_SECONDS = 2.0
_LATELY = 4


class Expected(NamedTuple):
    """The expected times of a run [s]."""

    trial: float
    before: float
    """The time before the first trial."""
    after: float
    """The time after the last trial."""


@dataclass(frozen=True)
class Countdown:
    """The trials of an execution, and about the time until its end."""

    recorded: Sequence[float]
    """The time from the start to the record of each trial that is done [s]."""
    total: int

    def text(self, elapsed: float, fast: Expected, slow: Expected) -> str:
        """Return a text with the ``elapsed`` time [s] and about the time that is left.

        Until two trials are done, the run is expected to be between ``fast`` and ``slow``.
        """
        lately = self._lately() or (fast.trial, slow.trial)
        expected = zip(lately, (fast, slow), strict=True)
        least, most = (self._left(elapsed, one._replace(trial=each)) for each, one in expected)
        text = f"elapsed {duration(elapsed)}"
        return f"{text}, left {around(least, most)}" if most > 0 else text

    def _lately(self) -> tuple[float, float] | None:
        """Return the times of the fastest and the slowest of the last trials [s].

        The load of a machine changes. Return None before two trials are done, since the first one
        waits for functions to start.
        """
        lately = [after - before for before, after in pairwise(self.recorded[-1 - _LATELY :])]
        return (min(lately), max(lately)) if lately else None

    def _left(self, elapsed: float, expected: Expected) -> float:
        """Return the expected time to the end [s], without more of a trial that is overdue."""
        trials = self.total - len(self.recorded)
        last = next(reversed(self.recorded), expected.before)
        left = last + trials * expected.trial + expected.after - elapsed
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
