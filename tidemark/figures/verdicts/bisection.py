"""The search for the first slower version, by comparisons of versions with one base.

A search has two ends, its base and its newest version. Each version between them is nearer to one
end. Wald's sequential test of two levels decides to which; it needs far fewer pairs than a verdict
against the base alone. If the levels are known, and s estimates the scatter with n degrees of
freedom, a version at one end is mistaken for the other end with a probability of at most
E[exp(-bound · s²/σ²)] = (1 + 2 · bound / n)^(-n / 2).

The level of the newest version is not known. It is estimated from pairs that stopped as soon as
they showed a slower version, so the estimate tends to lie too far from the base. The errors are
therefore not proven to stay within the bound; simulations measure them (docs/verdicts.md).

Sources: Wald, Annals of Mathematical Statistics 16 (1945); Hall, Biometrika 49 (1962), for an
estimate from earlier pairs alone. The estimate here is from the pairs of both versions, and right
for outliers, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from tidemark.figures.verdicts.pairs import Estimate, Pairs
from tidemark.figures.verdicts.rule import Word
from tidemark.model.run_spec import FEWEST

MISLED = 0.04
"""The most searches that name another version if each repetition resembles the one before, by a
correlation of up to 0.5: docs/verdicts.md measures it."""

Nearer = Literal["nearer to the newest", "nearer to the base", "cannot tell"]


class Ends(NamedTuple):
    """The two levels of a search: no change, and the mean change of its newest version."""

    newest: Estimate
    """The mean of d over all pairs of the newest version, two or more."""
    alpha: float
    """The probability that a version at one end is taken for one at the other, at known levels."""

    def nearer(self, pairs: Pairs) -> Nearer:
        """Return the end that some pairs of another version are nearer to."""
        beyond, bound = self._beyond_and_bound(pairs)
        if pairs.count < FEWEST or abs(beyond) < bound:
            return "cannot tell"
        return "nearer to the newest" if beyond > 0 else "nearer to the base"

    def missing(self, pairs: Pairs) -> int:
        """Return about how many more pairs tell the ends apart, for a version at one of them."""
        beyond, bound = self._beyond_and_bound(pairs)
        left = (bound - abs(beyond)) / (self.newest.mean**2 / 2)
        return max(1, FEWEST - pairs.count, math.ceil(left))

    def _beyond_and_bound(self, pairs: Pairs) -> tuple[float, float]:
        """Return the logarithm of the levels' likelihood ratio, and its bound, both times s²."""
        level, other = self.newest.mean, pairs.estimate
        freedom = self.newest.kept - 1 + max(0, other.kept - 1)
        squares = self.newest.scatter + other.scatter  # n · s²
        bound = squares / 2 * (math.pow(self.alpha, -2 / freedom) - 1)
        return other.kept * level * (other.mean - level / 2), bound


Finding = Word | Nearer
"""The verdict on the newest version, or the end that a version between is nearer to."""


class Bisection(NamedTuple):
    """A search among versions in ascending order, the base first."""

    versions: Sequence[str]
    findings: Mapping[str, Finding]
    """The finding on each version that was compared with the base."""

    @property
    def following(self) -> str | None:
        """The version to compare next; None if the search has ended.

        The newest version comes first: if it is not slower, there is nothing to find.
        """
        suspects = self.suspects
        if self.versions[-1] not in self.findings:
            return self.versions[-1]
        middle = suspects[len(suspects) // 2 - 1] if len(suspects) > 1 else None
        return None if middle in self.findings else middle

    @property
    def suspects(self) -> Sequence[str]:
        """The versions that may be the first slower one; empty if the newest is not slower."""
        if self.findings.get(self.versions[-1]) != "slower":
            return ()
        newest = len(self.versions) - 1
        slower = [at for at in range(1, newest) if self._found(at) == "nearer to the newest"]
        first = min(slower, default=newest)
        before = [at for at in range(1, first) if self._found(at) == "nearer to the base"]
        return self.versions[max(before, default=0) + 1 : first + 1]

    def _found(self, place: int) -> Finding | None:
        return self.findings.get(self.versions[place])
