"""The levels of users that a load held, with the limits that they hit, and its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.model.load import HeldLevel, LoadCourse
from tidemark.model.sentences import listed
from tidemark.report.blocks import Block, Bullets, Row, Table
from tidemark.report.line_chart import Group
from tidemark.report.numbers import figure


def load_blocks(test: str, groups: Sequence[Group]) -> Iterator[Block]:
    """Yield how the search of each trial ended, and a table of all levels; without loads none."""
    loads = [
        (group.name, trial.trial, result.load)
        for group in groups
        for trial, result in group.results
        if result.load
    ]
    if loads:
        yield f"Search for the supported users of {test}:"
        yield Bullets(tuple(_end(*each) for each in loads))
        yield _table(test, loads)


def _end(version: str, trial: int, load: LoadCourse) -> str:
    return f"trial {trial} ({version}): {load.reason}."


def _table(test: str, loads: Sequence[tuple[str, int, LoadCourse]]) -> Table:
    held = [level for _, _, load in loads for level in load.held]
    limits = tuple(dict.fromkeys(name for level in held for name in level.values))
    numbers = ("Level", "Users", "Connected", *limits)
    return Table(
        caption=f"Levels of users in {test}",
        columns=("Version", "Trial", *numbers, "Limits hit"),
        rows=tuple(
            Row((version, str(trial), str(number), *_cells(level, limits)))
            for version, trial, load in loads
            for number, level in enumerate(load.held, start=1)
        ),
        numbers=frozenset(numbers),
    )


def _cells(level: HeldLevel, limits: Sequence[str]) -> tuple[str, ...]:
    values = (figure(level.values.get(name)) for name in limits)
    users = f"{level.users:,}", figure(level.connected)
    return (*users, *values, listed(level.hit) or "none")
