"""What the history of a suite does not tell: runs that it leaves out, and changes that it cannot.

Each is a sentence, since a history that says nothing looks like one without a change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tidemark.figures.history.change_points import FEWEST, SHORTEST, ChangePoint
from tidemark.figures.history.run_medians import RunMedians, Series
from tidemark.figures.summary import change
from tidemark.model.numerals import figure
from tidemark.model.sentences import listed, plural
from tidemark.model.version_order import versions_at

_MOST_NAMED = 5  # versions of runs that are left out


class Untold(NamedTuple):
    """A sentence on what a history does not tell."""

    series: Series | None
    """The figure, None if the sentence is true of all."""
    sentence: str


def of_runs(others: Mapping[str, Sequence[RunMedians]], total: int) -> Iterator[Untold]:
    """Yield why runs of a suite do not count; ``others`` has them by the reason, of ``total``."""
    for reason, runs in others.items():
        versions = list(dict.fromkeys(run.version for run in runs))
        more = len(versions) - _MOST_NAMED
        named = listed(versions[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        count = f"{len(runs):,} of {plural(total, 'run')}"
        yield Untold(None, f"The changes of level leave out {count}, because {reason}: {named}.")


class Judged(NamedTuple):
    """One series of figures, and the changes of it that are not told."""

    series: Series
    unit: str
    """The unit of the levels."""
    margin: float
    runs: Sequence[RunMedians]
    """The runs of one size that count, in order."""
    without_canary: int
    """The number of runs in which no trial of the canary counts."""
    doubted: Sequence[ChangePoint]
    without_size: Sequence[ChangePoint]
    """Changes that are no share of the level before."""


def of_series(judged: Judged, last: RunMedians, later: int) -> Iterator[Untold]:
    """Yield what the history of one series does not tell.

    ``last`` is the last run of the series, of any size, and ``later`` the number of runs after it.
    """
    for sentence in _sentences(judged):
        yield Untold(judged.series, sentence)
    if later:
        there = "there is one later run" if later == 1 else f"there are {later:,} later runs"
        ended = f"not measured since run {last.run_id} ({last.version}); {there}."
        yield Untold(judged.series, ended)


def _sentences(judged: Judged) -> Iterator[str]:
    if judged.without_canary:
        count = plural(judged.without_canary, "run")
        yield f"the changes of level leave out {count}, because no trial of the canary counts."
    if len(judged.runs) < FEWEST:
        there = "1 is there" if len(judged.runs) == 1 else f"{len(judged.runs)} are there"
        yield (
            "cannot tell yet whether its level changed: "
            f"this takes {FEWEST} runs of one size, and {there}."
        )
    else:
        yield from (_doubt(judged, point) for point in judged.doubted if _matters(judged, point))
        yield from (_without_size(judged, point) for point in judged.without_size)
        first = judged.runs[1 - SHORTEST]
        yield (
            f"cannot tell a level of fewer than {SHORTEST} runs, nor one that began since run "
            f"{first.run_id} ({first.version})."
        )


def change_of(point: ChangePoint) -> float | None:
    """Return the size of a change, None if it is no finite share of the level before."""
    size = change(point.before, point.after)
    return size if size is not None and math.isfinite(size) else None


def _matters(judged: Judged, point: ChangePoint) -> bool:
    size = change_of(point)
    return size is None or abs(size) >= judged.margin


def _doubt(judged: Judged, point: ChangePoint) -> str:
    return f"cannot tell for certain whether the level changed {_place(judged, point)}."


def _without_size(judged: Judged, point: ChangePoint) -> str:
    return (
        f"the level changed {_place(judged, point)}; this has no percentage, and is not among the "
        "changes of level."
    )


def _place(judged: Judged, point: ChangePoint) -> str:
    before, run = judged.runs[point.index - 1 : point.index + 1]
    levels = f"from {figure(point.before)} to {figure(point.after)} {judged.unit}"
    return f"{levels} at run {run.run_id} ({versions_at(run.version, before.version)})"
