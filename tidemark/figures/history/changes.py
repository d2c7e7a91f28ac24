"""The changes of level in the history of a suite, and which of them a message has to report.

Lines of releases are judged apart. What a history leaves out, and what it cannot tell, is a
sentence beside them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple, TypeVar

from tidemark.figures.history import untold
from tidemark.figures.history.change_points import ChangePoint, Windows
from tidemark.figures.history.levels import (
    Cause,
    LevelChange,
    Levels,
    RunFigure,
    Scatter,
    State,
    judged_levels,
)
from tidemark.figures.history.newest import FEWEST, Credible, Newest, Suspicion, credible
from tidemark.figures.history.run_medians import Median, RunMedians, Series
from tidemark.figures.history.untold import Judged, Untold, change_of
from tidemark.figures.spread import Word
from tidemark.figures.verdicts.rule import ALARM
from tidemark.model.outcome import Acknowledgement
from tidemark.model.version_order import release_numbers, release_order

_OLDER = "an earlier run measured a newer version"


class Lines(NamedTuple):
    """The runs of a history by their release line, each in order."""

    main: list[RunMedians]
    others: dict[str, list[RunMedians]]
    """The lines beside the main one by name, such as ``1.9``. They begin with runs of the main
    line."""
    left_out: Mapping[str, Sequence[RunMedians]]
    """The runs that no line has, by the reason."""


def release_lines(runs: Sequence[RunMedians]) -> Lines:
    """Return the lines of a history's runs."""
    main, newest = list[RunMedians](), ""
    orders = _orders(runs)
    beside: defaultdict[tuple[int, ...], list[RunMedians]] = defaultdict(list)
    left_out: defaultdict[str, list[RunMedians]] = defaultdict(list)
    for run, order in zip(runs, orders, strict=True):
        if not run.medians:
            left_out["no trial of their newest version counts"].append(run)
        elif run.version == run.canary:
            left_out["they measured no version but the canary"].append(run)
        elif order is not None and order < newest:
            beside[_line(release_numbers(order), release_numbers(newest))].append(run)
        else:
            newest = order or newest
            main.append(run)
    others = {}
    for key, of_line in beside.items():
        ascending, older = _ascending([*_begun(main, key, of_line[0]), *of_line])
        if len(ascending) <= FEWEST:
            left_out[_OLDER] += of_line
        else:
            others[".".join(map(str, key))] = ascending
            left_out[_OLDER] += older
    return Lines(main, others, {reason: some for reason, some in left_out.items() if some})


def _orders(runs: Sequence[RunMedians]) -> list[str | None]:
    """Return what sorts the releases of runs, None where it is unknown.

    Among commits, one of digits alone is a commit, although it looks like a release.
    """
    orders = [release_order(run.version_order) for run in runs]
    if 2 * orders.count(None) <= len(orders):
        return orders
    return [
        None if run.version.isdecimal() else order for run, order in zip(runs, orders, strict=True)
    ]


def _line(numbers: Sequence[int], newest: Sequence[int]) -> tuple[int, ...]:
    """Return the first numbers of a version, up to the one that the newest version differs in."""
    pairs = enumerate(zip(numbers, newest, strict=False), start=1)
    return tuple(numbers[: next((place for place, (one, other) in pairs if one != other), None)])


def _begun(main: Sequence[RunMedians], key: tuple[int, ...], first: RunMedians) -> list[RunMedians]:
    """Return the runs of a line before it left the main one."""
    return [
        run
        for run in main
        if run.run_id < first.run_id
        and (order := release_order(run.version_order)) is not None
        and release_numbers(order)[: len(key)] == key
    ]


def _ascending(runs: Sequence[RunMedians]) -> tuple[list[RunMedians], list[RunMedians]]:
    """Return the runs whose version is as new as all before it, and the others."""
    ascending, older, newest = list[RunMedians](), list[RunMedians](), ""
    for run in runs:
        order = release_order(run.version_order) or ""
        (older if order < newest else ascending).append(run)
        newest = max(newest, order)
    return ascending, older


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
    """By figure: its labels may change at other times than the labels of other figures."""


NOTHING = Said({}, {})


class Change(NamedTuple):
    """A change of level of one figure."""

    series: Series
    """The figure; the levels have its unit."""
    run: RunMedians
    """The first run on the new level."""
    versions: tuple[str, str]
    """The newest version of the run before and of that run, or the canary if its level changed."""
    before: float
    after: float
    """The medians of the runs near the change, on either side."""
    word: Literal["slower", "faster"] | Word
    cause: Cause
    state: State | Literal["spread"]
    accepted: float
    """The level that is accepted since; for an open slowdown, the level before it."""
    acknowledgement: Acknowledgement | None
    alarms: bool
    """Whether a message has to report it."""
    last: RunMedians | None = None
    """The last run on the new level or of a drift, None if it goes on."""
    mended: RunMedians | None = None
    """The first run that is back on the level before, None if none is."""
    each: float | None = None
    """The change of a drift from one run to the next: a share, or an amount if it began at 0."""
    family: int = 1
    """The number of figures of the newest run, over which a suspicion is corrected."""

    @property
    def change(self) -> float | None:
        """(after - before) / before; None if that is not a finite number."""
        return change_of(self.before, self.after)

    @property
    def place(self) -> Place:
        """The metric and the run of the change."""
        return Place(self.series.test, self.series.metric, self.run.run_id)

    @property
    def is_open(self) -> bool:
        """Whether the figure is slower since, and nobody accepted it."""
        return (
            self.word == "slower"
            and self.cause == "version"
            and self.mended is None
            and self.accepted != self.after
            and self.state != "suspected"
        )


class _History(NamedTuple):
    """One series: the runs that measured the same work, in order."""

    series: Series
    margin: float
    runs: Sequence[RunMedians]
    figures: Sequence[RunFigure]
    without_canary: int
    """The number of runs that are left out, as no trial of their canary counts."""

    def said(self, by_place: Mapping[Place, _Said], name: str, point: ChangePoint) -> _Said | None:
        """Return the last statement on a change: it named a run at which the level may change.

        ``name`` is the metric's or the figure's.
        """
        if not by_place:
            return None
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

    def versions(self, index: int, *, of_canary: bool = False) -> tuple[str, str]:
        """Return the versions before and after a change at a run."""
        before, after = self.runs[index - 1 : index + 1]
        canary = after.canary if of_canary else None
        return canary or before.version, canary or after.version

    def is_large(self, change: LevelChange) -> bool:
        """Tell whether a change is at least the margin, or is not a finite share."""
        size = change_of(change.point.before, change.point.after)
        return size is None or abs(size) >= self.margin


class Judgement(NamedTuple):
    """The changes that a suite's history tells, and its omissions."""

    changes: list[Change]
    untold: list[Untold]


def judged(
    runs: Sequence[RunMedians], said: Said = NOTHING, known: Windows | None = None
) -> Judgement:
    """Return the changes of level of a suite's figures, as of the newest run, and what is untold.

    Only a change of at least the metric's margin counts. A release line beside the main one has a
    history of its own, in which the runs of the main line judge the others. ``known`` are windows
    of histories that are searched, to which others are added.
    """
    now = runs[-1].started_at if runs else datetime.min.replace(tzinfo=UTC)
    lines = release_lines(runs)
    silent = list(untold.of_runs(lines.left_out, len(runs)))
    found, main = list[Change](), {run.run_id for run in lines.main}
    for of_line in (lines.main, *lines.others.values()):
        told_before = main if of_line is not lines.main else set[str]()
        judgements = [(each, judged_levels(each.figures, known)) for each in _histories(of_line)]
        last = {each.series: place for place, run in enumerate(of_line) for each in run.medians}
        found_of_line = _discovered(judgements, of_line)
        if of_line is lines.main and len(of_line) > 1:
            silent += untold.of_whole_run(found_of_line.newest, *of_line[-2:])
        for history, levels in found_of_line.levels:
            family = len(of_line[-1].medians)
            for of_canary in (False, True):
                told = [each for each in levels.told if each.of_canary == of_canary]
                found += (
                    change._replace(family=family)
                    for change in _of_level(history, told, said, now)
                    if change.run.run_id not in told_before
                )
            of_spreads = _of_spreads(history, levels.spreads, len(judgements))
            found += (each for each in of_spreads if each.run.run_id not in told_before)
            if of_line is lines.main:
                silent += _omissions(history, levels, of_line, last[history.series])
    found.sort(key=lambda change: (change.run.run_id, change.series))
    return Judgement(found, list(dict.fromkeys(silent)))


class _Judgements(NamedTuple):
    """The levels of the figures of a release line, and which of the newest suspicions count."""

    levels: list[tuple[_History, Levels]]
    newest: Credible


def _discovered(
    judgements: Sequence[tuple[_History, Levels]], runs: Sequence[RunMedians]
) -> _Judgements:
    """Return histories without suspicions that chance or the machine explains.

    Neither does a suspicion count as gone that was none.
    """
    newest, before = (_credible(judgements, runs, place) for place in (-1, -2))
    found = []
    for history, levels in judgements:
        told = [
            each
            for each in levels.told
            if each.state != "suspected"
            or (
                history.runs[-1].run_id == runs[-1].run_id
                and newest.holds(_suspicion(history, each.point, each.p_value))
            )
        ]
        gone = levels.gone
        counted = gone and before.holds(_suspicion(history, gone, gone.p_value))
        found.append((history, levels._replace(told=told, gone=gone if counted else None)))
    return _Judgements(found, newest)


def _credible(
    judgements: Sequence[tuple[_History, Levels]], runs: Sequence[RunMedians], place: int
) -> Credible:
    """Return which suspicions of the newest run, or of the run before that are gone, count."""
    if len(runs) < -place:
        return Credible(0.0)
    suspicions = []
    for history, levels in judgements:
        if len(history.runs) < -place or history.runs[place].run_id != runs[place].run_id:
            continue
        points: list[tuple[ChangePoint | Newest, float]] = (
            [(each.point, each.p_value) for each in levels.told if each.state == "suspected"]
            if place == -1
            else [(gone, gone.p_value) for gone in [levels.gone] if gone]
        )
        suspicions += [_suspicion(history, *each) for each in points]
    return credible(suspicions, max(1, len(runs[place].medians)))


def _suspicion(history: _History, point: ChangePoint | Newest, p_value: float) -> Suspicion:
    if min(point.before, point.after) <= 0:
        return Suspicion(p_value, None)
    gain = math.log(point.after / point.before)
    return Suspicion(p_value, gain if history.series.direction == "higher" else -gain)


def _omissions(
    history: _History, levels: Levels, runs: Sequence[RunMedians], last: int
) -> Iterator[Untold]:
    of_series = Judged(
        history.series,
        history.measured(of_canary=False).unit,
        history.margin,
        history.runs,
        history.without_canary,
        levels.gone,
        levels.unclear if runs[-1].run_id == history.runs[-1].run_id else None,
    )
    return untold.of_series(of_series, runs[last], len(runs) - 1 - last)


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
            RunFigure(median.value, median.canary, run.environment, median.quartiles)
            for run, median in points
        ]
        newest = points[-1][1]
        measured = [run for run, _ in points]
        yield _History(newest.series, newest.margin, measured, figures, without_canary[key])


def _of_level(
    history: _History, found: Sequence[LevelChange], said: Said, now: datetime
) -> Iterator[Change]:
    accepted = found[0].point.before if found else 0.0
    for level in filter(history.is_large, found):
        point, names = level.point, history.series
        decision = history.said(said.acknowledged, names.metric, point)
        told = history.said(said.told, names.name, point)
        is_open = level.cause == "version" and not (decision and now.date() <= decision.until)
        better = (point.after > point.before) == (history.series.direction == "higher")
        # Two runs agree by chance too often for a message: in 2 to 12 of 1,000.
        is_certain = level.state in {"new", "lasting"}
        accepted_again = level.is_mended or (level.returns and not better)
        accepts = better or not is_open or level.returns
        accepted = point.after if accepts and level.state != "suspected" else accepted
        yield Change(
            series=history.measured(of_canary=level.of_canary),
            run=history.runs[point.index],
            versions=history.versions(point.index, of_canary=level.of_canary),
            before=point.before,
            after=point.after,
            word="faster" if better else "slower",
            cause=level.cause,
            state=level.state,
            accepted=accepted,
            acknowledgement=decision,
            alarms=is_open and is_certain and not accepted_again and _is_news(told, decision),
            last=None if level.last is None else history.runs[level.last],
            mended=history.runs[level.last + 1] if level.is_mended and level.last else None,
            each=level.each,
        )


def _of_spreads(history: _History, found: Sequence[Scatter], family: int) -> Iterator[Change]:
    """Yield the changes of spread that are certain over a family of figures, and large enough."""
    for scatter in found:
        before, after, p_value = scatter.change
        if p_value <= ALARM / family and abs(after - before) >= history.margin:
            yield Change(
                series=history.series._replace(unit="of the level"),
                run=history.runs[scatter.first],
                versions=history.versions(scatter.first),
                before=before,
                after=after,
                word=scatter.change.word,
                cause=scatter.cause,
                state="spread",
                accepted=after,
                acknowledgement=None,
                alarms=False,
                family=family,
            )


def _is_news(told: datetime | None, decision: Acknowledgement | None) -> bool:
    """Tell whether no message has reported a change, or none since its acceptance ended."""
    return told is None or (decision is not None and told.date() <= decision.until)
