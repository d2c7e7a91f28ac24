"""The course of one metric in a run that goes on until it is decided.

A first ``slower`` or ``faster`` is an alarm that nobody is told: new pairs alone confirm it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from tidemark.figures.verdicts.pairs import Estimate, Pairs
from tidemark.figures.verdicts.power import is_hopeless, may_be_same
from tidemark.figures.verdicts.rule import ALARMS, Criteria, Judgement, alarm_word, judge, word
from tidemark.model.sentences import plural

HOPELESS = "the pairs scatter so much that more of them would not tell"
TOO_SHORT = "the pairs scatter too much for the time of the run"
NOT_POSITIVE = "a rate is zero or below"
WITHOUT_PAIR = "repetitions in a row gave no pair"
# A version that always fails would otherwise be measured in every repetition.
_MOST_WITHOUT_PAIR = 5

Stage = Literal["first", "confirmed"]
Step = Callable[["SequentialMetric", float], "SequentialMetric"]
"""A function of a course and one more pair d that returns the course after it."""


@dataclass(frozen=True, slots=True)
class SequentialMetric:
    """The pairs of one metric of two versions, and whether they are decided."""

    first: Pairs = field(default_factory=Pairs)
    again: Pairs | None = None
    """The pairs of the confirmation; None before the first alarm."""
    is_decided: bool = False
    """Whether no further pair is needed."""
    given_up: str = ""
    """The reason why further pairs would not tell, '' if they may, or if there is a verdict."""
    lacking: int = 0
    """The repetitions without a pair since the last pair."""

    def after_rates(self, base: float | None, new: float | None, step: Step) -> SequentialMetric:
        """Return the course after the rates of one more repetition; None is a missing rate.

        ``step`` takes the pair of both rates, if they have one.
        """
        if self.is_decided:
            return self
        if base is None or new is None:
            lacking = self.lacking + 1
            if lacking < _MOST_WITHOUT_PAIR:
                return replace(self, lacking=lacking)
            return replace(self, is_decided=True, given_up=f"{lacking} {WITHOUT_PAIR}")
        if min(base, new) <= 0:
            return replace(self, is_decided=True, given_up=NOT_POSITIVE)
        return step(self, math.log(new) - math.log(base))

    def after(self, pair: float, criteria: Criteria) -> SequentialMetric:
        """Return the course after one more pair d."""
        one = Pairs.of([pair])
        if self.again is None:
            return _first(self.first + one, criteria.first_stage)
        return _confirmed(replace(self, again=self.again + one), criteria)

    def longer(self, pair: float) -> SequentialMetric:
        """Return the course after one more pair d that something else than the rule decides by."""
        return SequentialMetric(self.first + Pairs.of([pair]))

    def judgement(self, criteria: Criteria) -> Judgement:
        """Return the verdict; a change is estimated from the confirming pairs alone, if any.

        A change that they do not confirm is the same if they show so, and it is below the margin in
        all pairs together, or if those show so.
        """
        if self.again is None:
            judgement = judge(self.first, criteria)
            if self.given_up:
                return untold(judgement, self.given_up)
            # Only the last look of a run whose time is over finds an alarm here.
            return unconfirmed(judgement, "the time of the run is over")
        judgement, every = judge(self.pairs, self.of_stage(criteria)), self.joined.pairs
        alarm = alarm_word(self.first.estimate, criteria)
        is_small = abs(math.expm1(every.estimate.mean)) < criteria.margins.alarm
        if judgement.word == alarm or (judgement.word == "same" and is_small):
            return judgement
        is_over = criteria.is_over or self.is_decided
        whole = judge(every, criteria._replace(is_over=is_over))
        if whole.word == "same":
            return whole
        new = plural(self.again.count, "new pair")
        return untold(judgement, f"{alarm} at first, not confirmed by {new}")

    def first_judgement(self, criteria: Criteria) -> Judgement | None:
        """Return the alarm that new pairs have to confirm, None before it."""
        if self.again is None:
            return None
        alarm = alarm_word(self.first.estimate, criteria)
        return judge(self.first, criteria)._replace(word=alarm, reason="")

    def of_stage(self, criteria: Criteria) -> Criteria:
        """Return the criteria that this stage uses, from the run's."""
        return criteria if self.again is None else criteria.confirming(self.first.count)

    @property
    def stage(self) -> Stage:
        """The stage that the verdict is from."""
        return "first" if self.again is None else "confirmed"

    @property
    def pairs(self) -> Pairs:
        """The pairs that the verdict is from."""
        if self.again is None:
            return self.first
        return replace(self.again, known=self.first.differences)

    @property
    def joined(self) -> SequentialMetric:
        """The course as if there had been no alarm, with all pairs in its first stage."""
        return replace(self, first=self.first + (self.again or Pairs()), again=None)


def _first(pairs: Pairs, criteria: Criteria) -> SequentialMetric:
    found = word(estimate := pairs.estimate, criteria)
    if found in ALARMS:
        return SequentialMetric(pairs, Pairs())
    given_up = _why_hopeless(estimate, criteria) if found == "cannot tell" else ""
    decided = found != "cannot tell" or bool(given_up) or pairs.count >= criteria.most
    return SequentialMetric(pairs, None, decided, given_up)


def _confirmed(course: SequentialMetric, criteria: Criteria) -> SequentialMetric:
    rule, new, every = course.of_stage(criteria), course.pairs, course.joined.pairs
    found, whole = word(estimate := new.estimate, rule), every.estimate
    if found == "cannot tell":
        found = "same" if word(whole, criteria) == "same" else found
    given_up = ""
    if found == "cannot tell" and not may_be_same(whole, criteria.in_time):
        given_up = _why_hopeless(estimate, rule)
    decided = found != "cannot tell" or bool(given_up) or new.count >= rule.most
    return replace(course, is_decided=decided, given_up=given_up, lacking=0)


def _why_hopeless(pairs: Estimate, criteria: Criteria) -> str:
    """Return why more pairs would not tell, '' if they may."""
    if is_hopeless(pairs, criteria):
        return HOPELESS
    in_time = criteria.in_time
    # A neighbour that disturbs the first pairs may be gone before the time is over.
    return TOO_SHORT if 2 * pairs.count >= in_time.most and is_hopeless(pairs, in_time) else ""


def unconfirmed(judgement: Judgement, why: str) -> Judgement:
    """Return the judgement on versions that no confirmation compares: it is not an alarm."""
    if judgement.word not in ALARMS:
        return judgement
    return untold(judgement, f"{judgement.word} at first, not confirmed: {why}")


def untold(judgement: Judgement, reason: str) -> Judgement:
    """Return the judgement without its verdict, for a reason."""
    return judgement._replace(word="cannot tell", reason=reason)
