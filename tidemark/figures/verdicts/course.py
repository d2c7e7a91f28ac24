"""The course of one metric in a run that goes on until it is decided.

A first ``slower`` is an alarm that nobody is told: new pairs alone have to confirm it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tidemark.figures.verdicts.outlook import is_hopeless
from tidemark.figures.verdicts.pairs import Pairs
from tidemark.figures.verdicts.rule import Criteria, Judgement, judge, word

CONFIRMATION = 60
"""The most pairs of a confirmation. With the few pairs of a first stage it would often fail."""
HOPELESS = "the pairs scatter so much that more of them would not tell"

Stage = Literal["first", "confirmed"]


@dataclass(frozen=True, slots=True)
class Course:
    """The running sums of one metric of two versions, and whether they are decided."""

    first: Pairs = field(default_factory=Pairs)
    again: Pairs | None = None
    """The pairs of the confirmation; None before the first ``slower``."""
    is_decided: bool = False
    """Whether no further pair is needed."""
    is_hopeless: bool = False

    def after(self, pair: float, criteria: Criteria, most: int) -> Course:
        """Return the course after one more pair d, with ``most`` pairs in the first stage."""
        one = Pairs.of([pair])
        if self.again is None:
            return _first(self.first + one, criteria, most)
        return _ended(self.first, self.again + one, criteria)

    def judgement(self, criteria: Criteria) -> Judgement:
        """Return the verdict; a change is estimated from the confirming pairs alone, if any."""
        if self.again is None:
            judgement = judge(self.first, criteria)
            return _untold(judgement, HOPELESS) if self.is_hopeless else judgement
        judgement = judge(self.again, criteria)
        if judgement.word == "slower":
            return judgement
        return _untold(judgement, f"not confirmed by {self.again.count} new pairs")

    @property
    def stage(self) -> Stage:
        """The stage that the verdict is from."""
        return "first" if self.again is None else "confirmed"


def _first(pairs: Pairs, criteria: Criteria, most: int) -> Course:
    found = word(pairs, criteria)
    if found == "slower":
        return Course(pairs, Pairs())
    hopeless = found == "cannot tell" and is_hopeless(pairs, criteria, most)
    decided = found != "cannot tell" or hopeless or pairs.count >= most
    return Course(pairs, None, decided, hopeless)


def _ended(first: Pairs, again: Pairs, criteria: Criteria) -> Course:
    hopeless = is_hopeless(again, criteria, CONFIRMATION)
    decided = word(again, criteria) != "cannot tell" or again.count >= CONFIRMATION
    return Course(first, again, decided or hopeless, hopeless)


def _untold(judgement: Judgement, reason: str) -> Judgement:
    return judgement.model_copy(update={"word": "cannot tell", "reason": reason})
