"""The gaps in the history of a suite: runs that it leaves out, and changes that it cannot tell.

Each is a sentence, since a history that says nothing looks like one without a change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tidemark.figures.history.newest import FEWEST, Credible, Newest, Unclear
from tidemark.figures.history.run_medians import RunMedians, Series
from tidemark.figures.version_rates import change
from tidemark.model.numerals import figure, percent
from tidemark.model.sentences import listed, plural

_MOST_NAMED = 5  # versions of runs that are left out


class Untold(NamedTuple):
    """A sentence on what a history does not tell."""

    series: Series | None
    """The figure, None if the sentence is true of all."""
    sentence: str
    """Empty if the figure is judged and nothing is left out."""


def of_runs(others: Mapping[str, Sequence[RunMedians]], total: int) -> Iterator[Untold]:
    """Yield why runs of a suite do not count; ``others`` has them by the reason, of ``total``."""
    for reason, runs in others.items():
        versions = list(dict.fromkeys(run.version for run in runs))
        more = len(versions) - _MOST_NAMED
        named = listed(versions[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        count = f"{len(runs):,} of {plural(total, 'run')}"
        yield Untold(None, f"The changes of level leave out {count}, because {reason}: {named}.")


def of_whole_run(found: Credible, before: RunMedians, newest: RunMedians) -> Iterator[Untold]:
    """Yield that many figures of the newest run moved by one share, which a machine does, too."""
    if found.shared is not None:
        count = f"{found.alike:,} of {len(newest.medians):,} figures"
        word = "slower" if found.shared < 0 else "faster"
        share = percent(
            -math.expm1(-abs(found.shared)) if found.shared < 0 else math.expm1(found.shared)
        )
        yield Untold(
            None,
            f"{count} are {word} by about one share, {share} of their speed, in run "
            f"{newest.run_id} ({newest.version} after {before.version}): cannot tell yet whether "
            "the version or the machine is; the next run tells.",
        )


class Judged(NamedTuple):
    """One series of figures, and what was suspected of it."""

    series: Series
    unit: str
    """The unit of the levels."""
    margin: float
    runs: Sequence[RunMedians]
    """The runs of one size that count, in order."""
    without_canary: int
    """The number of runs in which no trial of the canary counts."""
    gone: Newest | None
    """The change that the run before the newest one was suspected of, if the newest denies it."""
    unclear: Unclear | None
    """The newest run of the suite, if more runs can tell whether its level is another."""


def of_series(judged: Judged, last: RunMedians, later: int) -> Iterator[Untold]:
    """Yield what the history of one series does not tell.

    ``last`` is the last run of the series, of any size, and ``later`` the number of runs after it.
    """
    for sentence in list(_sentences(judged)) or [""]:
        yield Untold(judged.series, sentence)
    if later:
        there = "there is one later run" if later == 1 else f"there are {later:,} later runs"
        ended = f"not measured since run {last.run_id} ({last.version}); {there}."
        yield Untold(judged.series, ended)


def _sentences(judged: Judged) -> Iterator[str]:
    if judged.without_canary:
        count = plural(judged.without_canary, "run")
        yield f"the changes of level leave out {count}, because no trial of the canary counts."
    there = len(judged.runs)
    if there <= FEWEST:
        yield f"cannot tell yet: {there} of about {FEWEST + 1} runs."
    elif judged.unclear and _matters(judged.unclear, judged.margin):
        newest = judged.runs[-1].version
        about = f"cannot tell yet, 1 of about {judged.unclear.runs:,} runs"
        yield f"{newest} lies apart from the level before, but not clearly: {about}."
    elif judged.gone and _matters(judged.gone, judged.margin):
        yield _gone(judged, judged.gone)


def _matters(point: Newest | Unclear, margin: float) -> bool:
    size = change_of(point.before, point.after)
    return size is None or abs(size) >= margin


def _gone(judged: Judged, point: Newest) -> str:
    before, newest = judged.runs[-2:]
    size = change_of(point.before, point.after)
    word = (
        "slower"
        if (point.after < point.before) == (judged.series.direction == "higher")
        else ("faster")
    )
    share = "" if size is None else f"{percent(abs(size))} "
    return (
        f"{before.version} alone was {share}{word}, {figure(point.after)} instead of "
        f"{figure(point.before)} {judged.unit}; {newest.version} is not."
    )


def change_of(before: float, after: float) -> float | None:
    """Return the size of a change, None if it is not a finite share of the level before."""
    size = change(before, after)
    return size if size is not None and math.isfinite(size) else None
