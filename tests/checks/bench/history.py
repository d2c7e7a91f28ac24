"""``python -m tests.checks.bench.history``: how often histories are right, and what they cost.

The tables go into docs/history.md. Seeds are fixed: the same code gives the same tables but for the
times. The exit code is 1 if a figure misses its limit.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.checks.bench.drawn_histories import (
    HUMP,
    Releases,
    autoregressive,
    nightly,
    past,
    releases,
)
from tests.checks.bench.verdicts import Figure, percentage
from tests.checks.docs import write_part
from tidemark.figures.history.change_points import ChangePoint, change_points
from tidemark.figures.history.levels import (
    LevelChange,
    RunFigure,
    Scatter,
    judged_levels,
    without_drifts,
)
from tidemark.figures.history.newest import Suspicion, credible


class Case(NamedTuple):
    """A measured figure with its name."""

    name: str
    figure: Figure

    @property
    def row(self) -> str:
        """The case as a row of a Markdown table."""
        return f"| {self.name} | {self.figure.cell} |\n"


def _case(name: str, value: float, limit: float, unit: str = "%", least: bool = False) -> Case:
    return Case(f"{name} [{unit}]" if unit else name, Figure(value, limit, least))


_SERIES, _PASTS, _NIGHTLY, _DRIFTS = 200, 1_000, 200, 30
_WATCHED, _POINTS = 40, 150
"""The series that are judged at each of their points, and the points of one."""
_NEAR = 4
"""The points by which a found change of nightly figures may miss its place."""
_METRICS, _RELEASES, _SLOWED, _DATABASES = 175, 202, 73, 2


def steady() -> Iterator[Case]:
    """Yield how often a history without a change has one."""
    for correlation, limit in ((0.0, 3), (0.3, 3), (0.6, 3), (0.8, 25)):
        for count in (30, 100, 300):
            chance = random.Random(7)
            series = [autoregressive(chance, count, correlation) for _ in range(_SERIES)]
            alarms = percentage([bool(change_points(values)) for values in series])
            yield _case(f"AR(1), φ {correlation:g}, {count} runs", alarms, limit)


def online() -> Iterator[Case]:
    """Yield how many messages on a new level come of 1,000 points that have none.

    A message is told at the first point at which the history has the level.
    """
    for correlation in (0.0, 0.3):
        chance = random.Random(11)
        told = 0
        for _ in range(_WATCHED):
            values = autoregressive(chance, _POINTS, correlation)
            told += len({place for n in range(5, _POINTS) for place in _new(values[: n + 1])})
        name = f"AR(1), φ {correlation:g}: messages of 1,000 points"
        yield _case(name, 1000 * told / (_WATCHED * _POINTS), 0.7, "")


def _new(values: list[float]) -> Iterator[int]:
    for change in judged_levels(list(map(RunFigure, values))).told:
        if change.state in {"new", "lasting"}:
            yield change.point.index


def masked() -> Iterator[Case]:
    """Yield how often a step that is found alone is found behind a past."""
    found = []
    for seed in range(_PASTS):
        chance = random.Random(seed)
        deviation, size = chance.uniform(0.005, 0.03), chance.uniform(0.05, 0.4)
        before, after = chance.randrange(10, 41), chance.randrange(8, 41)
        own = [
            100 * math.exp((size if n >= before else 0) + chance.gauss(0, deviation))
            for n in range(before + after)
        ]
        other = past(chance)
        if _has(change_points(own), before):
            found.append(_has(change_points(other + own), len(other) + before))
    yield _case(f"a step behind {_PASTS:,} pasts", percentage(found), 99.5, least=True)


def _has(points: list[ChangePoint], place: int) -> bool:
    return any(abs(point.index - place) <= 1 for point in points)


def drifting() -> Iterator[Case]:
    """Yield how often a slope is one drift and blames no version."""
    for slope in (0.002, 0.005, 0.01):
        for deviation in (0.003, 0.01):
            right = []
            for seed in range(_DRIFTS):
                chance = random.Random(seed)
                values = [100 * math.exp(slope * n + chance.gauss(0, deviation)) for n in range(60)]
                steps, drifts = without_drifts(values, change_points(values))
                right.append((len(steps), len(drifts)) == (0, 1))
            name = f"{slope:.1%} a release, scatter {deviation:g}: one drift, no version blamed"
            yield _case(name, percentage(right), 90, least=True)


_SPREADS = 60


def spreads() -> Iterator[Case]:
    """Yield how often one spread is called two, and how often a wider one is found."""
    for correlation in (0.0, 0.6, 0.8):
        chance = random.Random(7)
        series = [autoregressive(chance, 300, correlation) for _ in range(_SERIES)]
        alarms = percentage([bool(_spreads(values)) for values in series])
        yield _case(f"AR(1), φ {correlation:g}, 300 runs: one spread called two", alarms, 3)
    for times, after, limit in ((3, 40, 90), (5, 20, 90), (5, 10, 40)):
        found = []
        for seed in range(_SPREADS):
            chance = random.Random(seed)
            widths = [0.01] * 100 + [0.01 * times] * after
            found.append(bool(_spreads([100 * math.exp(chance.gauss(0, each)) for each in widths])))
        name = f"{times} times as wide for {after} runs, behind 100: found"
        yield _case(name, percentage(found), limit, least=True)


def _spreads(values: list[float]) -> Sequence[Scatter]:
    return judged_levels(list(map(RunFigure, values))).spreads


def nights() -> Iterator[Case]:
    """Yield how right the changes of nightly figures are."""
    drawn = [nightly(random.Random(seed)) for seed in range(_NIGHTLY)]
    points = [change_points(each.values) for each in drawn]
    for name, lasting, limit in (("new", False, 0.6), ("lasting", True, 0.64)):
        right = false = missed = 0
        clean = list[bool]()
        for each, found in zip(drawn, points, strict=True):
            places = [point.index for point in found if point.lasts or not lasting]
            hits = _hits(places, each.changes)
            right, false = right + hits, false + len(places) - hits
            missed += len(each.changes) - hits
            clean += [] if each.changes else [bool(places)]
        yield _case(
            f"nightly, {name}: F1", 2 * right / (2 * right + false + missed), limit, "", True
        )
        yield _case(f"nightly, {name}: clean series alarmed", percentage(clean), 6.5)


def _hits(found: list[int], true: list[int]) -> int:
    left = list(true)
    for place in found:
        near = [each for each in left if abs(each - place) <= _NEAR]
        if near:
            left.remove(min(near, key=lambda each: abs(each - place)))
    return len(true) - len(left)


def of_releases() -> Iterator[Case]:
    """Yield how the newest release is judged: six of 202 slow down 73 of 175 metrics."""
    own, later, third, listed, gone, left, points = 0, 0, 0, 0, 0, 0, 0
    for seed in range(_DATABASES):
        drawn = releases(random.Random(seed), _METRICS, _RELEASES, _SLOWED)
        own += _suspected(drawn, drawn.begin)[0]
        later += sum(_told(drawn, n, drawn.begin + 2) for n in range(_SLOWED))
        third += sum(_told(drawn, n, drawn.begin + 3) for n in range(_SLOWED))
        listed += sum(map(_is_listed, drawn.series[:_SLOWED], [drawn.begin] * _SLOWED))
        for release in range(8, _RELEASES - 2, 15):
            gone += _suspected(drawn, release)[1]
            left += sum(_leaves(series, release) for series in drawn.series)
            points += _METRICS
    slowed = _DATABASES * _SLOWED
    for name, found, limit in (
        ("suspected at its own release", own, 66),
        ("told one release later", later, 63),
        ("told at its third release", third, 66),
        ("listed with its first and its mending release, once over", listed, 66),
    ):
        yield _case(
            f"six slower releases: {name}",
            100 * found / slowed,
            round(100 * limit / 73, 1),
            least=True,
        )
    yield _case("points suspected and gone within two releases", 100 * gone / points, 1)
    yield _case("points told one release later and gone within two more", 100 * left / points, 0.4)


def _suspected(drawn: Releases, release: int) -> tuple[int, int]:
    """Return how many slowed metrics a release suspects, and how many suspicions then go."""
    found = {
        place: change
        for place, series in enumerate(drawn.series)
        for change in _levels(series[: release + 1])
        if change.state == "suspected"
    }
    suspicions = {place: _suspicion(change) for place, change in found.items()}
    counting = credible(list(suspicions.values()), len(drawn.series))
    places = [place for place, each in suspicions.items() if counting.holds(each)]
    gone = sum(_goes(drawn.series[place], release, found[place]) for place in places)
    return sum(place < drawn.slowed for place in places), gone


def _suspicion(change: LevelChange) -> Suspicion:
    return Suspicion(change.p_value, -math.log(change.point.after / change.point.before))


def _goes(series: list[tuple[float, float, float]], release: int, change: LevelChange) -> bool:
    before, step = change.point.before, change.point.after - change.point.before
    return any((value - before) / step < 0.5 for value, _, _ in series[release + 1 : release + 3])


def _leaves(series: list[tuple[float, float, float]], release: int) -> bool:
    """Tell whether a level that began one release before is told, and then goes."""
    return any(
        change.point.index == release - 1
        and change.state in {"confirmed", "new", "lasting"}
        and _goes(series, release, change)
        for change in _levels(series[: release + 1])
    )


def _levels(series: list[tuple[float, float, float]]) -> list[LevelChange]:
    return judged_levels(
        [RunFigure(value, quartiles=(low, high)) for value, low, high in series]
    ).told


def _told(drawn: Releases, metric: int, end: int) -> bool:
    """Tell whether the slower level of a metric is told by the release before ``end``."""
    return any(
        change.point.index == drawn.begin and change.state in {"confirmed", "new", "lasting"}
        for change in _levels(drawn.series[metric][:end])
    )


def _is_listed(series: list[tuple[float, float, float]], begin: int) -> bool:
    return any(
        abs(change.point.index - begin) <= 1
        and change.is_mended
        and change.last is not None
        and abs(change.last - begin - HUMP + 1) <= 1
        for change in _levels(series)
    )


def times() -> Iterator[Case]:
    """Yield the CPU time of one history."""
    for count, limit in ((30, 5), (300, 30), (3000, 300)):
        chance = random.Random(1)
        values = [chance.gauss(100, 1) for _ in range(count)]
        began = time.process_time()
        for _ in range(5):
            judged_levels(list(map(RunFigure, values)))
        yield _case(
            f"{count:,} runs of one figure", 200 * (time.process_time() - began), limit, "ms"
        )


def main() -> int:
    """Measure, write the page's tables and return the exit code."""
    tables = {
        "Histories without a change that have one": iter([*steady(), *online()]),
        "Masking and drifts": iter([*masked(), *drifting()]),
        "Spread": spreads(),
        "Nightly figures": nights(),
        "Releases": of_releases(),
        "CPU time": times(),
    }
    missed, text = False, ""
    for heading, cases in tables.items():
        rows = list(cases)
        missed |= not all(case.figure.holds for case in rows)
        part = f"### {heading}\n\n| case | measured |\n|---|--:|\n"
        part += "".join(case.row for case in rows) + "\n"
        print(part, flush=True)
        text += part
    write_part("history.md", "figures", f"\n{text}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
