"""The changes of level in the history of a suite, and which of them a message has to report."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple, TypeVar

from tidemark.figures.history.change_points import ChangePoint
from tidemark.figures.history.levels import Cause, LevelChange, RunFigure, level_changes
from tidemark.figures.history.run_medians import Median, RunMedians, Series
from tidemark.model.acknowledgement import Acknowledgement
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


def changes(runs: Sequence[RunMedians], said: Said = NOTHING) -> list[Change]:
    """Return the changes of level of a suite's figures, as of the newest run, in order.

    Only a change of at least the metric's margin counts. Runs whose newest version is known to be
    older than one that an earlier run measured ask another question, and are left out.
    """
    now = runs[-1].started_at if runs else datetime.min.replace(tzinfo=UTC)
    found = [change for each in _histories(runs) for change in _changes(each, said, now)]
    return sorted(found, key=lambda change: (change.run.run_id, change.series))


def _histories(runs: Sequence[RunMedians]) -> Iterator[_History]:
    alike: defaultdict[tuple[object, ...], list[tuple[RunMedians, Median]]] = defaultdict(list)
    for run in _of_newest_versions(runs):
        work = repr(sorted(run.parameters.items()))
        for median in run.medians:
            if run.canary is None or median.canary:
                alike[median.series, work, run.canary].append((run, median))
    for points in alike.values():
        figures = [
            RunFigure(median.value, median.canary, run.environment) for run, median in points
        ]
        newest = points[-1][1]
        yield _History(newest.series, newest.margin, [run for run, _ in points], figures)


def _of_newest_versions(runs: Sequence[RunMedians]) -> Iterator[RunMedians]:
    newest = ""
    for run in runs:
        order = release_order(run.order)
        if run.medians and run.version != run.canary and (order is None or order >= newest):
            newest = order or newest
            yield run


def _changes(history: _History, said: Said, now: datetime) -> Iterator[Change]:
    found = level_changes(history.figures)
    for of_canary in (False, True):
        yield from _of_level(
            history, [each for each in found if each.of_canary == of_canary], said, now
        )


def _of_level(
    history: _History, found: Sequence[LevelChange], said: Said, now: datetime
) -> Iterator[Change]:
    accepted = found[0].point.before if found else 0.0
    for level in found:
        point, names = level.point, history.series
        decision = history.said(said.acknowledged, names.metric, point)
        if not point.before or abs(point.after / point.before - 1) < history.margin:
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
