"""Samples by stack while a profile is read, within bounds of memory."""

from __future__ import annotations

from collections import Counter

from tidemark.store.profiles.unreadable import Unreadable

SAMPLES = "samples"
"""The unit of numbers of samples."""
_MOST_CHARACTERS = 64 << 20
_MOST_SAMPLES = 2**63 - 1  # the largest bigint of a table


class Tally:
    """The samples so far, and the room for different stacks."""

    def __init__(self, most_characters: int | None = None) -> None:
        self.stacks = Counter[str]()
        self._most = self._room = most_characters or _MOST_CHARACTERS
        self._total = 0

    def add(self, stack: str, samples: int) -> None:
        """Add the samples of a folded stack.

        Raises
        ------
        Unreadable
            If the different stacks or the samples are too many.

        """
        if samples <= 0:
            return
        if stack not in self.stacks:
            self._room -= len(stack)
            if self._room < 0:
                raise Unreadable(f"its different stacks have more than {self._most:,} characters")
        self._total += samples
        if self._total > _MOST_SAMPLES:
            raise Unreadable(f"it has more than {_MOST_SAMPLES:,} samples")
        self.stacks[stack] += samples

    def divide(self, weight: int) -> None:
        """Divide all samples by a number that divides each."""
        for stack in self.stacks:
            self.stacks[stack] //= weight
