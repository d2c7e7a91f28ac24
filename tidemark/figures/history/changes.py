"""The changes of level in the history of a suite, and which of them somebody has to be told."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple, TypeVar

from tidemark.figures.history.levels import TOGETHER, Cause, RunFigure, level_changes
from tidemark.figures.history.run_medians import Median, RunMedians, Series
from tidemark.model.acknowledgement import Acknowledgement
from tidemark.model.version_order import version_order

_Said = TypeVar("_Said")


class Place(NamedTuple):
    """A metric and a run, at which people and messages speak of a change."""

    test: str
    metric: str
    run_id: str


class Said(NamedTuple):
    """The acknowledgements of changes, and the times at which they were told, by place."""

    acknowledged: Mapping[Place, Acknowledgement]
    told: Mapping[Place, datetime]


NOTHING = Said({}, {})


class Change(NamedTuple):
    """A change of level of one figure."""

    series: Series
    run: RunMedians
    """The first run on the new level."""
    version_before: str
    """The version of the run before."""
    before: float
    after: float
    """The medians of the runs near the change, on either side."""
    word: Literal["slower", "faster"]
    cause: Cause
    accepted: float
    """The level that is accepted since: that of an open slowdown is the one before it."""
    acknowledgement: Acknowledgement | None
    alarms: bool
    """Whether somebody has to be told."""

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

    def said(self, by_place: Mapping[Place, _Said], index: int) -> _Said | None:
        """Return what was said last of a change near a run: more runs may move its place."""
        ids = [run.run_id for run in self.runs]
        near = [
            place.run_id
            for place in by_place
            if (place.test, place.metric) == self.series[:2]
            and abs(bisect_left(ids, place.run_id) - index) <= TOGETHER
        ]
        last = Place(self.series.test, self.series.metric, max(near)) if near else None
        return by_place[last] if last else None


def changes(runs: Sequence[RunMedians], said: Said = NOTHING) -> list[Change]:
    """Return the changes of level of a suite's figures, as of the newest run, in order.

    Only a change of at least the metric's margin counts. Runs whose newest version is older than
    one that an earlier run measured ask another question, and are left out.
    """
    now = runs[-1].started_at if runs else datetime.min.replace(tzinfo=UTC)
    found = [change for each in _histories(runs) for change in _changes(each, said, now)]
    return sorted(found, key=lambda change: (change.run.run_id, change.series))


def _histories(runs: Sequence[RunMedians]) -> Iterator[_History]:
    alike: defaultdict[tuple[Series, str], list[tuple[RunMedians, Median]]] = defaultdict(list)
    for run in _of_newest_versions(runs):
        for median in run.medians:
            alike[median.series, repr(sorted(run.parameters.items()))].append((run, median))
    for (series, _), points in alike.items():
        figures = [RunFigure(median.value, environment=run.environment) for run, median in points]
        yield _History(series, points[-1][1].margin, [run for run, _ in points], figures)


def _of_newest_versions(runs: Sequence[RunMedians]) -> Iterator[RunMedians]:
    newest = ""
    for run in runs:
        # A build is as new as the release in its name.
        order = version_order(run.version.partition("+")[0])
        if run.medians and order >= newest:
            newest = order
            yield run


def _changes(history: _History, said: Said, now: datetime) -> Iterator[Change]:
    points = level_changes(history.figures)
    accepted = points[0].point.before if points else 0.0
    for found in points:
        point, run = found.point, history.runs[found.point.index]
        if not point.before or abs(point.after / point.before - 1) < history.margin:
            continue
        decision = history.said(said.acknowledged, point.index)
        told = history.said(said.told, point.index)
        is_open = found.cause == "version" and not (decision and now.date() <= decision.until)
        better = (point.after > point.before) == (history.series.direction == "higher")
        accepted = point.after if better or not is_open else accepted
        yield Change(
            series=history.series,
            run=run,
            version_before=history.runs[point.index - 1].version,
            before=point.before,
            after=point.after,
            word="faster" if better else "slower",
            cause=found.cause,
            accepted=accepted,
            acknowledgement=decision,
            alarms=is_open and _is_news(told, decision),
        )


def _is_news(told: datetime | None, decision: Acknowledgement | None) -> bool:
    """Tell whether nobody was told of a change, or nobody since it was accepted for a time."""
    return told is None or (decision is not None and told.date() <= decision.until)
