"""What both sides were measured with, and where that differs."""

from __future__ import annotations

import re
from dataclasses import replace

from lambdas.comparison.sides import Side, Sides
from lambdas.report.blocks import Row, Table
from lambdas.report.figures import MISSING
from lambdas.report.machines import NOT_LOGGED, values
from lambdas.report.setup import carried, settings

_DIFFERS = "differs"
_NOT_RECORDED = "not recorded"
# What is not known differs from nothing.
_UNKNOWN = {_NOT_RECORDED, NOT_LOGGED, MISSING}
# What a version is, which two versions differ in; and what no two runs have in common.
_OF_VERSION = ("Version", "Package", "Package digest", "Image digest")
_OF_RUN = (
    "Run", "Seed of the order", "Started [UTC]", "Measured until [UTC]", "Note", "Started by",
    "Resumed [UTC]",
)  # fmt: skip
# What rates depend on, beside the version and the machine.
_SIZE = {"Tasks of a test", "Records of a task", "Task size"}
_MACHINE = "Machine: "
# Of no meaning beside another run's.
_LEFT_OUT = {"Execution", "Baseline"}


def table(sides: Sides) -> Table:
    """Return a row for each thing that is known of how the sides were measured."""
    base, new = (_said(side) for side in sides.both)
    return Table(
        caption="What both were measured with; what differs is marked",
        columns=("Setting", "Difference", sides.base.name, sides.new.name),
        rows=tuple(
            Row((name, _DIFFERS if len({*both} - _UNKNOWN) > 1 else "", *map(_shortened, both)))
            for name in dict.fromkeys((*base, *new))
            if (both := (base.get(name, _NOT_RECORDED), new.get(name, _NOT_RECORDED)))
        ),
    )


def unlike(sides: Sides) -> dict[str, str]:
    """Return in words what differs beside the versions and their runs, by the setting's name."""
    versions_differ = sides.base.version != sides.new.version
    may_differ = {*_OF_RUN, *(_OF_VERSION if versions_differ else ())}
    return {
        name: f"{name} is {base} for {sides.base.name} and {new} for {sides.new.name}"
        for name, mark, base, new in (row.cells for row in table(sides).rows)
        if mark and name not in may_differ
    }


def on_unlike_machines(sides: Sides) -> bool:
    """Tell whether the machines of both sides differ."""
    return any(name.startswith(_MACHINE) for name in unlike(sides))


def of_unlike_size(sides: Sides) -> bool:
    """Tell whether the tasks of both sides differ in their number, their records or their size."""
    return not _SIZE.isdisjoint(unlike(sides))


def _shortened(value: str) -> str:
    """Return a value with as much of each digest as tells it from others."""
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1…", value)


def _said(side: Side) -> dict[str, str]:
    counting = replace(side.run, trials=side.run.counting())
    machine = {
        f"{_MACHINE}{key}": " and ".join(found) for key, found in values(counting.trials).items()
    }
    return {
        "Version": side.version,
        **carried(counting, side.version),
        **{name: value for name, value in settings(side.run).items() if name not in _LEFT_OUT},
        **machine,
    }
