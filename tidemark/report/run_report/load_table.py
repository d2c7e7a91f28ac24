"""The levels of users that a load held, with the limits that they hit, and its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tidemark.model.load import HeldLevel, LoadCourse
from tidemark.model.numerals import MISSING, figure
from tidemark.model.sentences import listed
from tidemark.report.blocks import Block, Bullets, Chart, Row, Table
from tidemark.report.line_chart import Group, Line, lines, means_and_largest


class _Loaded(NamedTuple):
    """The load of one trial."""

    version: str
    trial: int
    load: LoadCourse


def load_blocks(test: str, groups: Sequence[Group]) -> Iterator[Block]:
    """Yield the end of each trial's search, a chart and a table of all levels; without loads none.

    The CPU time of a service is its mean over the whole level.
    """
    loads = [
        _Loaded(group.name, trial.trial, result.load)
        for group in groups
        for trial, result in group.results
        if result.load
    ]
    if loads:
        yield f"Search for the supported users of {test}:"
        yield Bullets(tuple(_end(each) for each in loads))
        if any(each.load.held for each in loads):
            yield _chart(test, groups, loads)
        yield _table(test, loads)


def _end(loaded: _Loaded) -> str:
    return f"trial {loaded.trial} ({loaded.version}): {loaded.load.reason}."


def _chart(test: str, groups: Sequence[Group], loads: Sequence[_Loaded]) -> Chart:
    drawn = [Line(each.version, each.trial, _points(each.load)) for each in loads if each.load.held]
    title = f"Users of the levels in {test}"
    table = means_and_largest(f"{title}, by trial", drawn)
    return lines(f"{title} over time.", groups, drawn, "users", table)


def _points(load: LoadCourse) -> list[tuple[float, float]]:
    return [((each.ended_at - load.started_at).total_seconds(), each.users) for each in load.held]


def _table(test: str, loads: Sequence[_Loaded]) -> Table:
    held = [level for each in loads for level in each.load.held]
    columns = tuple(dict.fromkeys(name for level in held for name in level.values))
    services = tuple(dict.fromkeys(name for level in held for name in level.cpu))
    cpu = tuple(f"CPU of {name} [vCPU]" for name in services)
    numbers = ("Level", "Users", "Connected", *columns, *cpu)
    return Table(
        caption=f"Levels of users in {test}",
        columns=("Version", "Trial", *numbers, "Limits hit", "Then"),
        rows=tuple(
            Row((each.version, str(each.trial), str(number), *_cells(level, columns, services)))
            for each in loads
            for number, level in enumerate(each.load.held, start=1)
        ),
        numbers=frozenset(numbers),
    )


def _cells(level: HeldLevel, columns: Sequence[str], services: Sequence[str]) -> tuple[str, ...]:
    values = (figure(level.values.get(name)) for name in columns)
    cpu = (figure(level.cpu.get(name)) for name in services)
    hit = listed([*level.hit, *level.agents_hit]) or "none"
    users = f"{level.users:,}", figure(level.connected)
    return (*users, *values, *cpu, hit, level.decision or MISSING)
