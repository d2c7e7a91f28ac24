"""The course of one metric in a run that goes on until it is decided.

A first ``slower`` is an alarm that nobody is told: new pairs alone have to confirm it.
"""

from __future__ import annotations

from typing import Literal

from tidemark.figures.verdicts.outlook import is_hopeless
from tidemark.figures.verdicts.pairs import Pairs
from tidemark.figures.verdicts.rule import Criteria, Judgement, judge
from tidemark.model.frozen import Frozen

CONFIRMATION = 60
"""The most pairs of a confirmation. With the few pairs of a first stage it would often fail."""
HOPELESS = "the pairs scatter so much that more of them would not tell"

Stage = Literal["first", "confirmed"]


class Course(Frozen):
    """The running sums of one metric of two versions."""

    first: Pairs = Pairs()
    again: Pairs | None = None
    """The pairs of the confirmation; None before the first ``slower``."""
    hopeless: bool = False

    def after(self, pair: float, criteria: Criteria, most: int) -> Course:
        """Return the course after one more pair d, with ``most`` pairs in the first stage."""
        one = Pairs.of([pair])
        if self.again is None:
            return _first(self.first + one, criteria, most)
        again = self.again + one
        hopeless = is_hopeless(again, criteria, CONFIRMATION)
        return Course(first=self.first, again=again, hopeless=hopeless)

    def is_decided(self, criteria: Criteria, most: int) -> bool:
        """Tell whether no further pair is needed."""
        pairs = self.first if self.again is None else self.again
        end = most if self.again is None else CONFIRMATION
        return self.hopeless or pairs.count >= end or judge(pairs, criteria).word != "cannot tell"

    def judgement(self, criteria: Criteria) -> Judgement:
        """Return the verdict; a change is estimated from the confirming pairs alone, if any."""
        if self.again is None:
            judgement = judge(self.first, criteria)
            return _with_reason(judgement, HOPELESS) if self.hopeless else judgement
        judgement = judge(self.again, criteria)
        if judgement.word == "slower":
            return judgement
        return _with_reason(judgement, f"not confirmed by {self.again.count} new pairs")

    @property
    def stage(self) -> Stage:
        """The stage that the verdict is from."""
        return "first" if self.again is None else "confirmed"


def _first(pairs: Pairs, criteria: Criteria, most: int) -> Course:
    word = judge(pairs, criteria).word
    if word == "slower":
        return Course(first=pairs, again=Pairs())
    hopeless = word == "cannot tell" and is_hopeless(pairs, criteria, most)
    return Course(first=pairs, hopeless=hopeless)


def _with_reason(judgement: Judgement, reason: str) -> Judgement:
    return judgement.model_copy(update={"word": "cannot tell", "reason": reason})
