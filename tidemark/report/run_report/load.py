"""The load of a test: the end of each search, its levels, and what limits are over the users."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from tidemark.model.load import HeldLevel, LoadCourse
from tidemark.model.numerals import MISSING, counted
from tidemark.model.sentences import listed
from tidemark.model.suite import Test
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, figures, layer, tooltip
from tidemark.report.blocks import Block, Bullets, Chart, Row, Table
from tidemark.report.charts import (
    CROSS,
    HIT,
    LIMIT,
    Group,
    Line,
    group_marks,
    limit_line,
    line_mark,
    lines,
    means_and_largest,
)

Limits = Mapping[str, float]
"""The greatest accepted values, by the column of a load or by the series."""
# The label of an end stands at its place, and not within it.
_USERS_AXIS = {"grid": False, "tickCount": 5, "labelFlush": False}


def limits_of(test: Test) -> Limits:
    """Return the limits of a test's load, none without a load."""
    return {name: most for load in test.loads for name, most in load.limits.items()}


def series_limits(test: Test) -> Limits:
    """Return the limits of a test's series by name, without series that have none."""
    return {series.name: series.limit for series in test.series if series.limit is not None}


class _Loaded(NamedTuple):
    """The load of one trial."""

    version: str
    trial: int
    load: LoadCourse


def _loads(groups: Sequence[Group]) -> list[_Loaded]:
    return [
        _Loaded(group.name, trial.trial, result.load)
        for group in groups
        for trial, result in group.results
        if result.load
    ]


def limit_charts(test: str, groups: Sequence[Group], limits: Limits) -> Iterator[Chart]:
    """Yield a chart for each limit of a load: its value over the users, by version."""
    loads = _loads(groups)
    for name, limit in limits.items():
        if means := list(_means(groups, loads, name)):
            yield _over_users(test, name, limit, groups, means)


def load_blocks(test: str, groups: Sequence[Group], limits: Limits) -> Iterator[Block]:
    """Yield the end of each trial's search, and charts and a table of all levels.

    Without a load there are none. The CPU time of a service is its mean over the whole level.
    """
    if loads := _loads(groups):
        yield f"Search for the supported users of {test}:"
        yield Bullets(tuple(_search_end(each) for each in loads))
        yield from limit_charts(test, groups, limits)
        if any(each.load.held for each in loads):
            yield _level_chart(test, groups, loads)
        yield _level_table(test, loads)


def _search_end(loaded: _Loaded) -> str:
    bracket = loaded.load.bracket
    within = f"; the limit lies between {bracket[0]:,} and {bracket[1]:,}" if bracket else ""
    return f"trial {loaded.trial} ({loaded.version}): {loaded.load.reason}{within}."


class _Mean(NamedTuple):
    """The levels of one number of users in a version."""

    group: str
    users: int
    value: float
    """The mean of what was measured at these levels."""
    levels: int
    hit: int
    """The levels that hit the limit."""

    @property
    def fails(self) -> bool:
        """Whether most of the levels hit the limit; one of two may by chance."""
        return 2 * self.hit > self.levels


def _means(groups: Sequence[Group], loads: Sequence[_Loaded], name: str) -> Iterator[_Mean]:
    """Yield the means of a column by version and users, in order; none where it is not known."""
    for group in (each.name for each in groups):
        by_users = defaultdict[int, list[HeldLevel]](list)
        for level in (level for each in loads if each.version == group for level in each.load.held):
            if name in level.values:
                by_users[level.users].append(level)
        for users, levels in sorted(by_users.items()):
            value = fmean(level.values[name] for level in levels)
            yield _Mean(group, users, value, len(levels), sum(name in each.hit for each in levels))


def _over_users(
    test: str, name: str, limit: float, groups: Sequence[Group], means: Sequence[_Mean]
) -> Chart:
    """Return the chart of a limited value over the users of the levels, by version."""
    title = f"{name} of {test} over users"
    columns = ("Users", "Mean", "Levels", "Over the limit")
    layers = [each for place, group in enumerate(groups) for each in _by_users(place, [
        mean for mean in means if mean.group == group.name])]  # fmt: skip
    told = "the mean of all levels with this number of users; the limit is"
    return Chart(
        caption=f"{title}, {told} {limit:,.12g}.",
        spec=vega_lite.chart(
            height=220,
            encoding={
                "x": figures("users", _USERS_AXIS, field="users"),
                "y": figures(name, {"tickCount": 5, "domain": False}, field="value"),
            },
            layer=[*layers, limit_line(limit)],
        ),
        width=20,
        table=Table(
            caption=title,
            columns=("Version", *columns),
            rows=tuple(Row(_mean_cells(each)) for each in means),
            numbers=frozenset(columns),
        ),
        legend=(
            *group_marks([group.name for group in groups]),
            *([HIT] if any(mean.fails for mean in means) else []),
            LIMIT,
        ),
    )


def _mean_cells(each: _Mean) -> tuple[str, ...]:
    counts = str(each.levels), str(each.hit)
    return each.group, f"{each.users:,}", counted(each.value), *counts


def _by_users(place: int, means: Sequence[_Mean]) -> Iterator[Json]:
    """Yield the line of a version, its points, and crosses where most levels hit the limit."""
    if not means:
        return
    points = [
        {
            "version": each.group,
            "users": each.users,
            "value": each.value,
            "mean": counted(each.value),
        }
        for each in means
    ]
    told = {"tooltip": tooltip("version", "users", "mean")}
    color = line_mark(place)["color"]
    yield layer(f"line_{place + 1}", points, line_mark(place), {})
    held = [point for point, mean in zip(points, means, strict=True) if not mean.fails]
    failed = [point for point, mean in zip(points, means, strict=True) if mean.fails]
    dot = {"type": "point", "filled": True, "opacity": 1, "size": 45, "color": color}
    for name, mark, some in (("held", dot, held), ("failed", {**CROSS, "color": color}, failed)):
        if some:
            yield layer(f"{name}_{place + 1}", some, mark, told)


def _level_chart(test: str, groups: Sequence[Group], loads: Sequence[_Loaded]) -> Chart:
    drawn = [
        Line(each.version, each.trial, _level_points(each.load)) for each in loads if each.load.held
    ]
    title = f"Users of the levels in {test}"
    table = means_and_largest(f"{title}, by trial", drawn)
    failed = [
        Line(each.version, each.trial, _level_points(each.load, only_hit=True)) for each in loads
    ]
    return lines(f"{title} over time.", groups, drawn, "users", table, failed=failed)


def _level_points(load: LoadCourse, *, only_hit: bool = False) -> list[tuple[float, float]]:
    return [
        ((each.ended_at - load.started_at).total_seconds(), each.users)
        for each in load.held
        if each.hit or not only_hit
    ]


def _level_table(test: str, loads: Sequence[_Loaded]) -> Table:
    held = [level for each in loads for level in each.load.held]
    columns = tuple(dict.fromkeys(name for level in held for name in level.values))
    services = tuple(dict.fromkeys(name for level in held for name in level.cpu))
    cpu = tuple(f"CPU of {name} [vCPU]" for name in services)
    numbers = ("Level", "Users", "Connected", *columns, *cpu)
    return Table(
        caption=f"Levels of users in {test}",
        columns=("Version", "Trial", *numbers, "Limits hit", "Then"),
        rows=tuple(
            Row(
                (
                    each.version,
                    str(each.trial),
                    str(number),
                    *_level_cells(level, columns, services),
                )
            )
            for each in loads
            for number, level in enumerate(each.load.held, start=1)
        ),
        numbers=frozenset(numbers),
    )


def _level_cells(
    level: HeldLevel, columns: Sequence[str], services: Sequence[str]
) -> tuple[str, ...]:
    values = (counted(level.values.get(name)) for name in columns)
    cpu = (counted(level.cpu.get(name)) for name in services)
    hit = listed([*level.hit, *level.agents_hit]) or "none"
    users = f"{level.users:,}", counted(level.connected)
    return (*users, *values, *cpu, hit, level.decision or MISSING)
