"""The set-up of a run: what was measured, with what, when and why."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.model.numerals import MISSING, moment
from tidemark.model.parameters import Value
from tidemark.model.plan import Resume
from tidemark.model.run_spec import requirement
from tidemark.model.sentences import listed
from tidemark.model.suite import Suite
from tidemark.model.task import Task
from tidemark.report.blocks import Block, Row, Table
from tidemark.report.run_report.machines import (
    data_sets,
    digests,
    images,
    machines,
    others,
)
from tidemark.report.run_report.measured import MeasuredRun
from tidemark.store import keys

AXIS = "Axis "
PARAMETER = "Parameter "
LOAD = "Load of "
SERVICE = "Service "
"""The start of the setting of an axis, a parameter, a test's load or a service, before its name."""
LOGGED = "Logged: "
"""The start of the setting of another field that tasks logged, before its name."""
_PROGRAMS = {"load_tool": "Load tool", "database": "Database"}
SOURCE, TESTED = "Source", "Tested on"
"""The settings of published figures: where they stand, and the day that is published with them."""
CONFIGURATION = "Configuration of suite and run"
"""The setting of the object of the results bucket that archives it."""
LONGEST_START = "Longest start of a test, seconds"
"""The setting of how far apart the tasks of a test started at most."""


def setup(run: MeasuredRun) -> tuple[Block, ...]:
    """Return the tables of the set-up: the run, the versions and the machines."""
    if run.plan.imported:
        return (_table(run),)
    return _table(run), _versions(run), machines(run.trials)


def settings(run: MeasuredRun) -> dict[str, str]:
    """Return the settings, times and origin of a run, by name."""
    plan, request = run.plan, run.plan.request
    tests = " and ".join(test.name for test in plan.suite.tests)
    suite = f"{plan.suite.title} ({plan.suite.name}): {tests}"
    if plan.imported:
        day = f"{plan.started_at:%Y-%m-%d}"
        return {"Suite": suite, SOURCE: plan.imported.text, TESTED: day, "Run": plan.run_id}
    return {
        "Suite": suite,
        "Repetitions": (request.until_decided if request.until else f"{request.repetitions:,}"),
        **{
            f"{PARAMETER}{name}": _parameter(plan.suite, name, value)
            for name, value in request.parameters.items()
        },
        **{f"{AXIS}{name}": listed(values) for name, values in request.axes.items()},
        **{f"{LOAD}{test.name}": each.text for test in plan.suite.tests for each in test.loads},
        **_programs(run),
        **_start_spread(run),
        "Task size": _size(plan.suite.task),
        **{f"{SERVICE}{name}": _size(each.task) for name, each in plan.suite.services.items()},
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
        CONFIGURATION: keys.plan(plan.run_id),
        "Tidemark": plan.tidemark_version or MISSING,
    }


def _programs(run: MeasuredRun) -> dict[str, str]:
    """Return what tasks logged beside machine and version, such as programs with their versions."""
    logged = others(run.trials)
    return {_PROGRAMS.get(name, f"{LOGGED}{name}"): listed(logged[name]) for name in logged}


def _parameter(suite: Suite, name: str, value: Value) -> str:
    """Return a parameter for people, with its unit; the id of an instance has none."""
    parameter = suite.parameters.get(name)
    return parameter.text(value) if parameter else str(value)


def package_details(run: MeasuredRun, version: str) -> dict[str, str]:
    """Return the package and image of a version, by name; nothing for published figures."""
    if run.plan.imported:
        return {}
    return {
        "Package": requirement(run.plan.request, run.plan.suite, version) or MISSING,
        "Package digest": digests(run.trials, version),
        "Image digest": images(run.trials, version),
        **data_sets(run.trials, version),
    }


def _table(run: MeasuredRun) -> Table:
    return Table(
        caption="Set-up of the run",
        columns=("Item", "Value"),
        rows=tuple(Row(entry) for entry in settings(run).items()),
    )


def _resumes(resumes: Sequence[Resume]) -> dict[str, str]:
    texts = [
        f"{moment(resume.started_at)} by {resume.trigger}{': ' if resume.note else ''}{resume.note}"
        for resume in resumes
    ]
    return {"Resumed [UTC]": "; ".join(texts)} if texts else {}


def _versions(run: MeasuredRun) -> Table:
    versions = sorted(run.plan.request.measured_versions, key=run.plan.version_order)
    details = {version: package_details(run, version) for version in versions}
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
    return {LONGEST_START: f"{longest:,.1f}"}


def _size(task: Task) -> str:
    return f"{task.cpu / 1024:g} vCPU, {task.memory / 1024:g} GiB memory, {task.storage} GiB disk"
