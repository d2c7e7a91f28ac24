"""The search for the first slower version, by comparisons of versions with one base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tidemark.figures.verdicts.rule import Word


class Bisection(NamedTuple):
    """A search among versions in ascending order, the base first."""

    versions: Sequence[str]
    words: Mapping[str, Word]
    """The verdict of each version that was compared with the base."""

    @property
    def following(self) -> str | None:
        """The version to compare next; None if the search has ended.

        The newest version comes first: if it is not slower, there is nothing to find.
        """
        suspects = self.suspects
        if self.versions[-1] not in self.words:
            return self.versions[-1]
        middle = suspects[len(suspects) // 2 - 1] if len(suspects) > 1 else None
        return None if middle in self.words else middle

    @property
    def suspects(self) -> Sequence[str]:
        """The versions that may be the first slower one; empty if the newest is not slower."""
        if self.words.get(self.versions[-1]) != "slower":
            return ()
        places = range(len(self.versions))
        slower = min(place for place in places if self._word(place) == "slower")
        told = [place for place in places[:slower] if self._word(place) in ("same", "faster")]
        return self.versions[max(told, default=0) + 1 : slower + 1]

    def _word(self, place: int) -> Word | None:
        return self.words.get(self.versions[place])
