"""The set-up of a run, its time and its cost: what was measured, with what, when and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from tidemark.model.numerals import MISSING, moment
from tidemark.model.parameters import Value
from tidemark.model.plan import Basis, Estimate, Import, Plan, Prices, Resume
from tidemark.model.run_spec import requirement
from tidemark.model.sentences import listed
from tidemark.model.suite import Suite
from tidemark.model.task import Task
from tidemark.money.budget import Spent, counted, passed
from tidemark.money.run_cost import billed_seconds, insights_bytes, run_cost, task_seconds
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
PUBLISHED = "Published: "
"""The start of a setting that a page publishes, before its name."""
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
    suite = suite_name(plan, [test.name for test in plan.suite.tests])
    if plan.imported:
        day = f"{plan.started_at:%Y-%m-%d}"
        said = {
            **{f"{PUBLISHED}{name}": text for name, text in plan.imported.settings.items()},
            "Setup": plan.imported.setup,
            "Links": listed(_other_links(plan.imported)),
        }
        return {
            "Suite": suite,
            SOURCE: plan.imported.text,
            TESTED: day,
            **{name: text for name, text in said.items() if text},
            "Run": plan.run_id,
        }
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


def _other_links(page: Import) -> list[str]:
    """Return the addresses of a page that no setting has."""
    known = " ".join(page.settings.values()).split()
    return [address for address in page.links if address not in known]


def suite_name(plan: Plan, tests: Iterable[str]) -> str:
    """Return the suite of a run with the names of its tests."""
    return f"{plan.suite.title} ({plan.suite.name}): {' and '.join(tests)}"


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


_BASES: Mapping[Basis, str] = {
    "declared times": "the durations of tests in the suite",
    "time limits": "the time limits of the tests, and is an upper bound",
    "most repetitions": "the most repetitions that the run may take, and is an upper bound",
}


def spent(run: MeasuredRun) -> tuple[Block, ...]:
    """Return the table of time and cost beside the estimate, and sentences that explain them."""
    texts = (_shortage(run), _explanation(run.plan.prices), _expectation(run.plan.estimate))
    return _spent_table(run), *(text for text in texts if text)


def _spent_table(run: MeasuredRun) -> Table:
    trials = run.all_trials
    cost = run_cost(run.plan, trials)
    tasks, queries, total = (cost.tasks, cost.queries, cost.total) if cost else (None, None, None)
    scanned, budget = insights_bytes(trials), run.budget_usd()
    recorded = [
        ("Duration [h:mm:ss]", _duration(run), ""),
        ("Task time", f"{task_seconds(trials):,.1f} s", ""),
        ("Task time that Fargate bills", f"{billed_seconds(trials):,} s", _usd(tasks)),
        ("Log events scanned by queries", MISSING if scanned is None else f"{scanned:,} bytes",
         _usd(queries)),
        ("Total cost", "", _usd(total)),
        ("Budget", "", "none" if budget is None else _usd(budget)),
    ]  # fmt: skip
    numbers = ("Amount", "On AWS [USD]", "Expected", "Expected [USD]")
    both = zip(recorded, _expected(run.plan.estimate), strict=True)
    return Table(
        caption="Time and cost of the run",
        columns=("Item", *numbers),
        rows=tuple(Row((*cells, *expected)) for cells, expected in both),
        numbers=frozenset(numbers),
    )


def _shortage(run: MeasuredRun) -> str | None:
    """Return why trials are missing if the run's budget has no room for the next one."""
    budget = run.budget_usd()
    if budget is None or not run.unrecorded():
        return None
    return passed(counted(Spent(), run.plan, run.all_trials), run.plan, budget)


def _expected(estimate: Estimate | None) -> list[tuple[str, str]]:
    """Return the expected amount and cost for each row of the table."""
    if estimate is None:
        return [(MISSING, ""), ("", ""), (MISSING,) * 2, (MISSING,) * 2, ("", MISSING), ("", "")]
    return [
        (_clock(estimate.seconds), ""),
        ("", ""),
        (f"{estimate.task_seconds:,} s", _usd(estimate.tasks_usd)),
        (f"{estimate.insights_bytes:,} bytes", _usd(estimate.queries_usd)),
        ("", _usd(estimate.measuring_usd)),
        ("", ""),
    ]


def _usd(amount: float | None) -> str:
    if amount is None:
        return MISSING
    return "< 0.0001" if 0 < amount < 0.0001 else f"{amount:,.4f}"


def _explanation(prices: Prices | None) -> str:
    if prices is None:
        return "The run was planned without prices, so its cost is missing."
    return (
        "The cost covers the recorded tasks and log queries on AWS at the list prices of "
        f"{prices.region} of {prices.as_of}: {prices.vcpu_hour} USD for an hour of a vCPU, "
        f"{prices.memory_hour} of 1 GB of memory, {prices.storage_hour} of 1 GB of disk beyond 20, "
        f"{prices.address_hour} of a public address, {prices.scanned_gb} for 1 GB that log queries "
        f"scan ({prices.architecture}, Linux). Fargate bills a task for a minute at least. "
        "A run on one machine costs nothing: its figures are an estimate of the same run on AWS. "
        "Storage and requests to S3 are left out."
    )


def _expectation(estimate: Estimate | None) -> str:
    if estimate is None:
        return "The run was planned without an estimate of its time and cost."
    basis = _BASES[estimate.basis]
    return (
        f"The expected time and cost, on AWS, were estimated before the run from {basis}. The "
        f"estimate also has {_usd(estimate.services_usd)} USD for {estimate.transitions:,} state "
        "transitions, functions, ingested log events and CloudWatch metrics, and "
        f"{_usd(estimate.athena_usd)} USD for each saved query once in Athena "
        f"({estimate.athena_bytes:,} bytes, the least that Athena bills, and requests to S3); "
        "their actual costs are not recorded."
    )


def _duration(run: MeasuredRun) -> str:
    ended = run.ended_at()
    return _clock((ended - run.plan.started_at).total_seconds()) if ended else MISSING


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))
