"""The numbers of repetitions of a run: a fixed number, or as many as decide its verdicts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed
from tidemark.model.suite import MOST_REPETITIONS

Until = Literal["decided"]
FEWEST = 5
"""The fewest pairs that may have a verdict."""
CONFIRMATION = 60
"""The most pairs of a confirmation. With the few pairs of a first stage it would often fail."""


def most_until_decided(versions: Collection[str], fitting: int, repetitions: int | None) -> int:
    """Return the most repetitions before a confirmation, by default as many as fit into a run.

    ``fitting`` is the number of repetitions that a run has room for.

    Raises
    ------
    Refused
        If so few repetitions, or so few versions, have no verdict.

    """
    if len(versions) < 2:
        raise Refused(f"until: {listed(versions)} alone has no verdict; name two versions or more")
    if repetitions is None:
        return max(FEWEST, min(MOST_REPETITIONS, fitting - CONFIRMATION))
    if repetitions < FEWEST:
        raise Refused(
            f"repetitions: {repetitions} are too few to decide a verdict; expected {FEWEST} or more"
        )
    return repetitions
