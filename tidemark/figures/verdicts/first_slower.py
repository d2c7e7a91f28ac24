"""The search for the first slower version, by comparisons of versions with one base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tidemark.figures.verdicts.nearer_end import Nearer
from tidemark.figures.verdicts.rule import Word

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
