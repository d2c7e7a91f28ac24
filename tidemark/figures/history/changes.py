"""The changes of level in the history of a suite, and which of them a message has to report.

What a history leaves out, and what it cannot tell, is a sentence beside them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple, TypeVar

from tidemark.figures.history import untold
from tidemark.figures.history.change_points import ChangePoint
from tidemark.figures.history.levels import Cause, LevelChange, Levels, RunFigure, judged_levels
from tidemark.figures.history.run_medians import Median, RunMedians, Series
from tidemark.figures.history.untold import Judged, Untold, change_of
from tidemark.model.level_alarm import Acknowledgement
from tidemark.model.version_order import release_order

_Said = TypeVar("_Said")


class Place(NamedTuple):
    """A metric, or one of its figures, and a run: people and messages name a change by them."""

    test: str
    metric: str
    run_id: str


class Said(NamedTuple):
    """The acknowledgements of changes, and the times at which messages reported them."""

    acknowledged: Mapping[Place, Acknowledgement]
    """By metric: people accept a change of all its figures."""
    told: Mapping[Place, datetime]
    """By figure: its labels may change at other times than those of others."""


NOTHING = Said({}, {})


class Change(NamedTuple):
    """A change of level of one figure."""

    series: Series
    """The figure; its unit is that of the levels."""
    run: RunMedians
    """The first run on the new level."""
    versions: tuple[str, str]
    """The newest version of the run before and of that run, or the canary if its level changed."""
    before: float
    after: float
    """The medians of the runs near the change, on either side."""
    word: Literal["slower", "faster"]
    cause: Cause
    accepted: float
    """The level that is accepted since: that of an open slowdown is the one before it."""
    acknowledgement: Acknowledgement | None
    alarms: bool
    """Whether a message has to report it."""

    @property
    def change(self) -> float:
        """(after - before) / before."""
        return self.after / self.before - 1

    @property
    def place(self) -> Place:
        """The metric and the run of the change."""
        return Place(self.series.test, self.series.metric, self.run.run_id)


class _History(NamedTuple):
    """One series: the runs that measured the same work, in order."""

    series: Series
    margin: float
    runs: Sequence[RunMedians]
    figures: Sequence[RunFigure]
    without_canary: int
    """The number of runs that are left out, as no trial of their canary counts."""

    def judged(self, levels: Levels) -> Judged:
        """Return the series with the changes of it that are not told."""
        return Judged(
            self.series,
            self.measured(of_canary=False).unit,
            self.margin,
            self.runs,
            self.without_canary,
            levels.doubted,
            [each.point for each in levels.told if change_of(each.point) is None],
        )

    def said(self, by_place: Mapping[Place, _Said], name: str, point: ChangePoint) -> _Said | None:
        """Return the last statement on a change: it named a run at which the level may change.

        ``name`` is that of the metric or of the figure.
        """
        ids = [run.run_id for run in self.runs]
        meant = [
            place.run_id
            for place in by_place
            if (place.test, place.metric) == (self.series.test, name)
            and point.earliest <= bisect_left(ids, place.run_id) <= point.latest
        ]
        last = Place(self.series.test, name, max(meant)) if meant else None
        return by_place[last] if last else None

    def measured(self, *, of_canary: bool) -> Series:
        """Return the series with the unit of its levels: with a canary they are its shares."""
        canary = self.runs[-1].canary
        if canary is None or of_canary:
            return self.series
        return self.series._replace(unit=f"of {canary}")

    def versions(self, change: LevelChange) -> tuple[str, str]:
        """Return the versions before and after a change."""
        before, after = self.runs[change.point.index - 1 : change.point.index + 1]
        canary = after.canary if change.of_canary else None
        return canary or before.version, canary or after.version


class Judgement(NamedTuple):
    """The changes that a suite's history tells, and its omissions."""

    changes: list[Change]
    untold: list[Untold]


def changes(runs: Sequence[RunMedians], said: Said = NOTHING) -> list[Change]:
    """Return the changes of level of a suite's figures, as of the newest run, in order."""
    return judged(runs, said).changes


def judged(runs: Sequence[RunMedians], said: Said = NOTHING) -> Judgement:
    """Return the changes of level of a suite's figures, as of the newest run, and what is untold.

    Only a change of at least the metric's margin counts. Runs whose newest version is known to be
    older than one that an earlier run measured ask another question, and are left out.
    """
    now = runs[-1].started_at if runs else datetime.min.replace(tzinfo=UTC)
    counting, others = _sorted_out(runs)
    found, silent = list[Change](), list(untold.of_runs(others, len(runs)))
    last = {each.series: place for place, run in enumerate(counting) for each in run.medians}
    for history in _histories(counting):
        levels = judged_levels(history.figures)
        for of_canary in (False, True):
            told = [each for each in levels.told if each.of_canary == of_canary]
            found += _of_level(history, told, said, now)
        place = last[history.series]
        later = len(counting) - 1 - place
        silent += untold.of_series(history.judged(levels), counting[place], later)
    found.sort(key=lambda change: (change.run.run_id, change.series))
    return Judgement(found, list(dict.fromkeys(silent)))


def _sorted_out(
    runs: Sequence[RunMedians],
) -> tuple[list[RunMedians], Mapping[str, Sequence[RunMedians]]]:
    """Return the runs that count in the history of a suite, and the others by the reason."""
    counting, newest = list[RunMedians](), ""
    others: defaultdict[str, list[RunMedians]] = defaultdict(list)
    for run in runs:
        order = release_order(run.version_order)
        if not run.medians:
            others["no trial of their newest version counts"].append(run)
        elif run.version == run.canary:
            others["they measured no version but the canary"].append(run)
        elif order is not None and order < newest:
            others["an earlier run measured a newer version"].append(run)
        else:
            newest = order or newest
            counting.append(run)
    return counting, others


def _histories(runs: Sequence[RunMedians]) -> Iterator[_History]:
    alike: defaultdict[tuple[object, ...], list[tuple[RunMedians, Median]]] = defaultdict(list)
    without_canary: Counter[tuple[object, ...]] = Counter()
    for run in runs:
        work = repr(sorted(run.parameters.items()))
        for median in run.medians:
            group = median.series, work, run.canary
            if run.canary is None or median.canary:
                alike[group].append((run, median))
            else:
                without_canary[group] += 1
    for key, points in alike.items():
        figures = [
            RunFigure(median.value, median.canary, run.environment) for run, median in points
        ]
        newest = points[-1][1]
        measured = [run for run, _ in points]
        yield _History(newest.series, newest.margin, measured, figures, without_canary[key])


def _of_level(
    history: _History, found: Sequence[LevelChange], said: Said, now: datetime
) -> Iterator[Change]:
    accepted = found[0].point.before if found else 0.0
    for level in found:
        point, names = level.point, history.series
        decision = history.said(said.acknowledged, names.metric, point)
        size = change_of(point)
        if size is None or abs(size) < history.margin:
            continue
        told = history.said(said.told, names.name, point)
        is_open = level.cause == "version" and not (decision and now.date() <= decision.until)
        better = (point.after > point.before) == (history.series.direction == "higher")
        accepted = point.after if better or not is_open else accepted
        yield Change(
            series=history.measured(of_canary=level.of_canary),
            run=history.runs[point.index],
            versions=history.versions(level),
            before=point.before,
            after=point.after,
            word="faster" if better else "slower",
            cause=level.cause,
            accepted=accepted,
            acknowledgement=decision,
            alarms=is_open and _is_news(told, decision),
        )


def _is_news(told: datetime | None, decision: Acknowledgement | None) -> bool:
    """Tell whether no message has reported a change, or none since its acceptance ended."""
    return told is None or (decision is not None and told.date() <= decision.until)
