"""The set-up of a run and of both sides of a comparison: what was measured, with what and when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tidemark.model.numerals import MISSING, moment
from tidemark.model.parameters import Value
from tidemark.model.plan import Import, Plan, Resume
from tidemark.model.run_spec import requirement
from tidemark.model.sentences import listed
from tidemark.model.suite import Suite
from tidemark.model.task import Task
from tidemark.report.blocks import Block, Row, Table
from tidemark.report.comparison.sides import Side, Sides
from tidemark.report.run_report.machines import (
    DATA_SET,
    NOT_LOGGED,
    data_sets,
    digests,
    images,
    machines,
    others,
    values,
)
from tidemark.report.run_report.measured import MeasuredRun
from tidemark.store import keys

_AXIS = "Axis "
_PARAMETER = "Parameter "
_LOAD = "Load of "
_SERVICE = "Service "
"""The start of the setting of an axis, a parameter, a test's load or a service, before its name."""
_PUBLISHED = "Published: "
"""The start of a setting that a page publishes, before its name."""
_LOGGED = "Logged: "
"""The start of the setting of another field that tasks logged, before its name."""
_PROGRAMS = {"load_tool": "Load tool", "database": "Database"}
_SOURCE, _TESTED = "Source", "Tested on"
"""The settings of published figures: where they stand, and the day that is published with them."""
_CONFIGURATION = "Configuration of suite and run"
"""The setting of the object of the results bucket that archives it."""
_LONGEST_START = "Longest start of a test, seconds"
"""The setting of how far apart the tasks of a test started at most."""


def setup(run: MeasuredRun) -> tuple[Block, ...]:
    """Return the tables of the set-up: the run, the versions and the machines."""
    if run.plan.imported:
        return (_run_table(run),)
    return _run_table(run), _versions(run), machines(run.trials)


def _settings_of_run(run: MeasuredRun) -> dict[str, str]:
    """Return the settings, times and origin of a run, by name."""
    plan, request = run.plan, run.plan.request
    suite = _suite_name(plan, [test.name for test in plan.suite.tests])
    if plan.imported:
        day = f"{plan.started_at:%Y-%m-%d}"
        said = {
            **{f"{_PUBLISHED}{name}": text for name, text in plan.imported.settings.items()},
            "Setup": plan.imported.setup,
            "Links": listed(_other_links(plan.imported)),
        }
        return {
            "Suite": suite,
            _SOURCE: plan.imported.text,
            _TESTED: day,
            **{name: text for name, text in said.items() if text},
            "Run": plan.run_id,
        }
    return {
        "Suite": suite,
        "Repetitions": (request.until_decided if request.until else f"{request.repetitions:,}"),
        **{
            f"{_PARAMETER}{name}": _parameter(plan.suite, name, value)
            for name, value in request.parameters.items()
        },
        **{f"{_AXIS}{name}": listed(values) for name, values in request.axes.items()},
        **{f"{_LOAD}{test.name}": each.text for test in plan.suite.tests for each in test.loads},
        **_programs(run),
        **_start_spread(run),
        "Task size": _size(plan.suite.task),
        **{f"{_SERVICE}{name}": _size(each.task) for name, each in plan.suite.services.items()},
        "Baseline": request.baseline or "none",
        "Note": request.note or "none",
        "Started by": request.trigger,
        "Started [UTC]": moment(plan.started_at),
        **_resumes(run.resumes),
        "Measured until [UTC]": moment(run.ended_at()),
        "Seed of the order": str(plan.seed),
        "Run": plan.run_id,
        "Execution": plan.execution_arn,
        "Suite digest": plan.suite_digest,
        _CONFIGURATION: keys.plan(plan.run_id),
        "Tidemark": plan.tidemark_version or MISSING,
    }


def _other_links(page: Import) -> list[str]:
    """Return the addresses of a page that no setting has."""
    known = " ".join(page.settings.values()).split()
    return [address for address in page.links if address not in known]


def _suite_name(plan: Plan, tests: Iterable[str]) -> str:
    """Return the suite of a run with the names of its tests."""
    return f"{plan.suite.title} ({plan.suite.name}): {' and '.join(tests)}"


def _programs(run: MeasuredRun) -> dict[str, str]:
    """Return what tasks logged except machine and version, such as programs and their versions."""
    logged = others(run.trials)
    return {_PROGRAMS.get(name, f"{_LOGGED}{name}"): listed(logged[name]) for name in logged}


def _parameter(suite: Suite, name: str, value: Value) -> str:
    """Return a parameter for people, with its unit; the id of an instance has none."""
    parameter = suite.parameters.get(name)
    return parameter.text(value) if parameter else str(value)


def _package_details(run: MeasuredRun, version: str) -> dict[str, str]:
    """Return the package and image of a version, by name; nothing for published figures."""
    if run.plan.imported:
        return {}
    return {
        "Package": requirement(run.plan.request, run.plan.suite, version) or MISSING,
        "Package digest": digests(run.trials, version),
        "Image digest": images(run.trials, version),
        **data_sets(run.trials, version),
    }


def _run_table(run: MeasuredRun) -> Table:
    return Table(
        caption="Set-up of the run",
        columns=("Item", "Value"),
        rows=tuple(Row(entry) for entry in _settings_of_run(run).items()),
    )


def _resumes(resumes: Sequence[Resume]) -> dict[str, str]:
    texts = [
        f"{moment(resume.started_at)} by {resume.trigger}{': ' if resume.note else ''}{resume.note}"
        for resume in resumes
    ]
    return {"Resumed [UTC]": "; ".join(texts)} if texts else {}


def _versions(run: MeasuredRun) -> Table:
    versions = sorted(run.plan.request.measured_versions, key=run.plan.version_order)
    details = {version: _package_details(run, version) for version in versions}
    columns = tuple(dict.fromkeys(name for each in details.values() for name in each))
    return Table(
        caption="Versions and the packages that carry them",
        columns=("Version", *columns),
        rows=tuple(
            Row((version, *(each.get(name, MISSING) for name in columns)))
            for version, each in details.items()
        ),
    )


def _start_spread(run: MeasuredRun) -> dict[str, str]:
    """Return how far apart the tasks of a test started at most, empty if each test has one task."""
    tests = [test for trial in run.trials for test in trial.tests if len(test.own_tasks) > 1]
    if not tests:
        return {}
    longest = max(test.start_spread_seconds for test in tests)
    return {_LONGEST_START: f"{longest:,.1f}"}


def _size(task: Task) -> str:
    return f"{task.cpu / 1024:g} vCPU, {task.memory / 1024:g} GiB memory, {task.storage} GiB disk"


_NOT_RECORDED = "not recorded"
# Unknown values, which count as no difference.
_UNKNOWN = {_NOT_RECORDED, NOT_LOGGED, MISSING}
# Settings that differ between two versions, and settings that differ between any two runs.
_OF_VERSION = ("Version", "Package", "Package digest", "Image digest")
_OF_RUN = (
    "Run", "Seed of the order", "Started [UTC]", "Measured until [UTC]", "Note", "Started by",
    "Resumed [UTC]", _LONGEST_START, _SOURCE, _TESTED, _CONFIGURATION,
)  # fmt: skip
# Settings that rates depend on, beside the version and the machine.
_SIZE = (_AXIS, _PARAMETER, _SERVICE, "Task size")
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
        if not (versions_differ and name.startswith((DATA_SET, _LOGGED)))
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
        **_package_details(counting, side.version),
        **{
            name: value
            for name, value in _settings_of_run(side.run).items()
            if name not in _LEFT_OUT
        },
        # A page may publish the tests in another order.
        "Suite": _suite_name(
            side.run.plan, sorted(test.name for test in side.run.plan.suite.tests)
        ),
        **machine,
    }
