"""The rule that judges the pairs of two versions, for one metric."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, Self

from tidemark.figures.verdicts.intervals import CONFIRMING, LAST_LOOK, PAIRED_T, Method
from tidemark.figures.verdicts.pairs import Estimate, Pairs
from tidemark.model.metric import MARGIN, SAME_WITHIN, Metric
from tidemark.model.numerals import bound
from tidemark.model.run_spec import CONFIRMATION, FEWEST
from tidemark.model.suite import MOST_REPETITIONS

ALARM = 0.01
"""The share of runs without a change that may alarm, shared by all metrics and versions."""
UNCONFIRMED = 0.08
"""The most that may alarm if no new pairs confirm the alarms, and noise is not alike: one version
alone has slow outliers, or a repetition resembles the one before by a correlation of up to 0.5.
docs/verdicts.md measures it."""
_ALARMS_EARLY, _LOOKS = 3.5, 91
"""A run that has time for few pairs looks seldom, and may spend more on its first alarms: the share
is 3.5 times as large for 26 pairs or fewer. New pairs confirm them, and docs/verdicts.md measures
the whole."""
EQUIVALENCE = 0.10
"""1 - the confidence of the interval that decides ``same``: two one-sided tests of 5 % each.

Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987)."""
SHOWN = 0.05
"""1 - the confidence of the interval that people read, and that confirms an alarm."""

ALARMS: frozenset[str] = frozenset({"slower", "faster"})
"""The words that need a confirmation."""

Word = Literal["slower", "faster", "same", "cannot tell"]


class Margins(NamedTuple):
    """The changes of a metric that matter."""

    alarm: float = MARGIN
    """The smallest change that is called slower or faster, 0.03 being 3 %."""
    same: float = SAME_WITHIN
    """The bound of changes that are called the same."""

    @classmethod
    def of(cls, metric: Metric) -> Self:
        """Return the margins of a metric."""
        return cls(alarm=metric.margin, same=metric.same_within)


class Criteria(NamedTuple):
    """The criteria by which the pairs of one metric are judged."""

    direction: str
    """The better direction, ``higher`` or ``lower``."""
    method: Method
    margins: Margins
    share: float = 1.0
    """The metric's share of ``ALARM``; all metrics and versions that decide share it."""
    most: int = MOST_REPETITIONS
    """The number of pairs after which nobody looks again."""
    time_for: int | None = None
    """The number of pairs that the run has time for; None if only ``most`` ends it."""
    is_over: bool = False
    """Whether the time of the run is over: nobody looks again, whatever the number of pairs."""

    @property
    def alpha(self) -> float:
        """The probability that the metric alarms without a change."""
        return self.share * ALARM

    @property
    def in_time(self) -> Self:
        """The criteria with as many pairs as the run has time for."""
        return self if self.time_for is None else self._replace(most=min(self.most, self.time_for))

    @property
    def first_stage(self) -> Self:
        """The criteria of the pairs before an alarm, which is told only once it is confirmed."""
        looks = self.time_for or _LOOKS
        return self._replace(share=self.share * min(_ALARMS_EARLY, max(1.0, _LOOKS / looks)))

    def confirming(self, first: int) -> Self:
        """Return the criteria of new pairs that confirm an alarm of the ``first`` pairs.

        The alarm has paid for its share before.
        """
        left = None if self.time_for is None else max(0, self.time_for - first)
        return self._replace(
            method=CONFIRMING, share=SHOWN / ALARM, most=CONFIRMATION, time_for=left
        )

    def at(self, count: int) -> Method:
        """Return the method that judges ``count`` pairs."""
        is_last = self.is_over or count >= self.most
        return LAST_LOOK if is_last and self.method is not PAIRED_T else self.method


class Judgement(NamedTuple):
    """The verdict on one metric of two versions."""

    word: Word
    reason: str
    """The reason for ``cannot tell``, '' for other verdicts."""
    method: str
    effect: float | None
    """The change of the geometric mean of new / base, 0.1 being 10 % more; None without a pair."""
    low: float | None
    high: float | None
    """The interval of the change with the confidence 1 - ``SHOWN``; None without an interval."""
    pairs: int


def judge(pairs: Pairs, criteria: Criteria) -> Judgement:
    """Return the verdict on some pairs.

    A change is slower or faster if its p-value is at most the metric's share of ``ALARM`` and the
    change is at least the margin. It is the same if its interval lies within the margins.
    """
    estimate = pairs.estimate
    return judge_by(_shared(estimate, criteria), estimate, criteria)


def word(pairs: Estimate, criteria: Criteria) -> Word:
    """Return the word of the verdict on some pairs alone."""
    return _word(_shared(pairs, criteria), pairs, criteria)


def _shared(pairs: Estimate, criteria: Criteria) -> float:
    return min(1.0, criteria.at(pairs.count).p_value(pairs) / criteria.share)


def judge_by(p_value: float, pairs: Estimate, criteria: Criteria) -> Judgement:
    """Return the verdict on some pairs by a p-value that is adjusted for its family."""
    low, high = interval(pairs, criteria.at(pairs.count).shown(pairs, SHOWN))
    return Judgement(
        word=(found := _word(p_value, pairs, criteria)),
        reason=_reason(p_value, pairs, criteria.margins) if found == "cannot tell" else "",
        method=criteria.method.name,
        effect=math.expm1(pairs.mean) if pairs.count else None,
        low=low,
        high=high,
        pairs=pairs.count,
    )


def interval(pairs: Estimate, half: float) -> tuple[float | None, float | None]:
    """Return a change's interval from the half width of the mean of d; None if it is infinite."""
    if math.isinf(half):
        return None, None
    return math.expm1(pairs.mean - half), math.expm1(pairs.mean + half)


def _word(p_value: float, pairs: Estimate, criteria: Criteria) -> Word:
    if pairs.count < FEWEST:
        return "cannot tell"
    if p_value <= ALARM and abs(math.expm1(pairs.mean)) >= criteria.margins.alarm:
        return alarm_word(pairs, criteria)
    low, high = interval(pairs, criteria.at(pairs.count).equivalence(pairs, EQUIVALENCE))
    most = criteria.margins.same
    if low is not None and high is not None and -most <= low <= high <= most:
        return "same"
    return "cannot tell"


def alarm_word(pairs: Estimate, criteria: Criteria) -> Word:
    """Return the word of an alarm by some pairs."""
    return "faster" if (pairs.mean > 0) == (criteria.direction == "higher") else "slower"


def _reason(p_value: float, pairs: Estimate, margins: Margins) -> str:
    if pairs.count < FEWEST:
        return f"{pairs.count} of the {FEWEST} pairs that a verdict needs"
    if p_value <= ALARM and abs(math.expm1(pairs.mean)) < margins.alarm:
        return f"the change is certain, but below the margin of {bound(margins.alarm)}"
    return "the pairs scatter too much"
