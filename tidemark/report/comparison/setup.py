"""The set-up of both sides, and its differences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tidemark.model.numerals import MISSING
from tidemark.report.blocks import Row, Table
from tidemark.report.comparison.sides import Side, Sides
from tidemark.report.run_report.machines import DATA_SET, NOT_LOGGED, values
from tidemark.report.run_report.setup import (
    AXIS,
    CONFIGURATION,
    LOGGED,
    LONGEST_START,
    PARAMETER,
    SERVICE,
    SOURCE,
    TESTED,
    package_details,
    settings,
    suite_name,
)

_NOT_RECORDED = "not recorded"
# Unknown values, which count as no difference.
_UNKNOWN = {_NOT_RECORDED, NOT_LOGGED, MISSING}
# Settings that differ between two versions, and settings that differ between any two runs.
_OF_VERSION = ("Version", "Package", "Package digest", "Image digest")
_OF_RUN = (
    "Run", "Seed of the order", "Started [UTC]", "Measured until [UTC]", "Note", "Started by",
    "Resumed [UTC]", LONGEST_START, SOURCE, TESTED, CONFIGURATION,
)  # fmt: skip
# Settings that rates depend on, beside the version and the machine.
_SIZE = (AXIS, PARAMETER, SERVICE, "Task size")
_MACHINE = "Machine: "
# Settings without a meaning in a comparison.
_LEFT_OUT = {"Execution", "Baseline"}


def differences(sides: Sides) -> Table:
    """Return the table of the settings that differ between both sides: version or run, at least."""
    rows = [row for row in _rows(sides) if _differs(row)]
    return _table("Settings that differ", sides, rows)


def rest(sides: Sides) -> Table:
    """Return the table of the settings that both sides share, or that one side lacks."""
    rows = [row for row in _rows(sides) if not _differs(row)]
    return _table("Settings that both share, or that one lacks", sides, rows)


def differing_settings(sides: Sides) -> dict[str, str]:
    """Return the differences beside versions and runs in words, by the setting's name."""
    versions_differ = sides.base.version != sides.new.version
    may_differ = {*_OF_RUN, *(_OF_VERSION if versions_differ else ())}
    return {
        name: f"{fact} is {base} for {sides.base.name} and {new} for {sides.new.name}"
        for row in _rows(sides)
        for name, base, new in [row.cells]
        for fact in [name.replace(": ", " ")]
        if _differs(row) and name not in may_differ
        # A version makes its own data set, and fields of its own may tell the version.
        if not (versions_differ and name.startswith((DATA_SET, LOGGED)))
    }


def unlike_work(sides: Sides) -> list[str]:
    """Return the differences of work and machines in words, which alone change rates.

    The work is the parameters, the axes and the size of the tasks.
    """
    return [
        words
        for name, words in differing_settings(sides).items()
        if name.startswith((*_SIZE, _MACHINE))
    ]


def _rows(sides: Sides) -> list[Row]:
    """Return each setting with its value on both sides."""
    base, new = (_settings(side) for side in sides.both)
    return [
        Row((name, *(_shortened(side.get(name, _NOT_RECORDED)) for side in (base, new))))
        for name in dict.fromkeys((*base, *new))
    ]


def _differs(row: Row) -> bool:
    return len({*row.cells[1:]} - _UNKNOWN) > 1


def _table(caption: str, sides: Sides, rows: Sequence[Row]) -> Table:
    return Table(caption, ("Setting", sides.base.name, sides.new.name), tuple(rows))


def _shortened(value: str) -> str:
    """Return a value with the first 12 characters of each digest."""
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1…", value)


def _settings(side: Side) -> dict[str, str]:
    counting = replace(side.run, trials=side.run.counting())
    machine = {
        f"{_MACHINE}{key}": " and ".join(texts) for key, texts in values(counting.trials).items()
    }
    return {
        "Version": side.version,
        **package_details(counting, side.version),
        **{name: value for name, value in settings(side.run).items() if name not in _LEFT_OUT},
        # A page may publish the tests in another order.
        "Suite": suite_name(side.run.plan, sorted(test.name for test in side.run.plan.suite.tests)),
        **machine,
    }
