"""Prepared runs of the suites kiwi and mattermost: two versions under both loads."""

import math
from datetime import timedelta

from tests.plans import RUN, STARTED, plan_of
from tests.unit.measured_runs import ENVIRONMENT
from tidemark.figures.trial_status import labelled
from tidemark.model.load import HeldLevel, LoadCourse
from tidemark.model.results import (
    NO_EXCLUSIONS,
    MeasuredSeries,
    Point,
    TaskResult,
    TestResult,
    TrialResult,
    Usage,
    no_rate,
)
from tidemark.model.suite_files import read_suites
from tidemark.store.columns import timestamp
from tidemark.store.stored_run import StoredRun

BASE, NEW = "11.7", "12.4"
PUBLISHED = ("10.5.0", "10.6.0-rc3")
"""The versions of a comparison that Mattermost's developers published."""
OPERATIONS = ("TestCase.filter", "TestExecution.update", "TestRun.create", "TestRun.filter")
# The supported users that Mattermost published, of the base and of the new version.
USERS = {"mariadb": (8552, 9994), "mysql": (8552, 9994)}
USERS |= dict.fromkeys(("postgresql", "postgres"), (8682, 10045))
DATABASES = ("mariadb", "postgresql")
LOGGED = {
    **ENVIRONMENT, "load_tool": "Locust 2.47.0", "database": "MariaDB 11.4.5",
    "data_set_mariadb": "0a1b2c3d",
}  # fmt: skip
CRASH = (
    "service server: its container ended with exit code 139; its last lines: "
    "fatal error: concurrent map writes"
)


def load_run(repetitions=1, change=lambda trial, result: result, databases=DATABASES, **fields):
    """Return the run; ``change`` returns the result of a test in a trial."""
    plan = load_plan(repetitions, databases, **fields)
    return StoredRun(
        plan, [_measured(plan, trial, change) for trial in plan.trials], NO_EXCLUSIONS, []
    )


def load_plan(repetitions, databases, name=RUN, suite=None, versions=(BASE, NEW), **fields):
    """Return the plan of the tests bounded and unbounded."""
    suite = suite or read_suites()["kiwi"]
    tests = tuple(test for test in suite.tests if test.name != "api_baseline")
    wanted = {
        "versions": [*versions], "repetitions": repetitions,
        "axes": {"database": list(databases)}, **fields,
    }  # fmt: skip
    return plan_of(wanted, suite=suite.model_copy(update={"tests": tests}), name=name)


def crashed(result):
    """Return the result of a test whose server died after a third of it, and all users with it."""
    third = len(result.series[0].points) // 3
    dropped = [
        series.model_copy(
            update={
                "points": tuple(
                    Point(at=point.at, value=point.value if n < third else 0.0)
                    for n, point in enumerate(series.points)
                )
            }
        )
        if series.name == "active_users"
        else series.model_copy(update={"points": series.points[:third]})
        for series in result.series
    ]
    rates = tuple(rate.model_copy(update={"value": None}) for rate in result.rates)
    changed = {"status": "failed", "reason": CRASH, "rates": rates, "series": tuple(dropped)}
    return result.model_copy(update=changed)


def _measured(plan, trial, change):
    results = [change(trial, _result(trial, test)) for test in plan.suite.tests]
    failures = [f"{result.test}: {result.reason}" for result in results if result.reason]
    return TrialResult(
        run_id=plan.run_id, **trial.model_dump(), status="failed" if failures else "ok",
        reason="; ".join(failures), tests=tuple(labelled(each, trial.axes) for each in results),
    )  # fmt: skip


def _result(trial, test):
    # The new version answers faster, and its test lasts half as long again.
    is_new = _is_new(trial)
    seconds = 90 if is_new else 60
    began = STARTED + timedelta(seconds=200 * trial.trial + (100 if test.services[1:] else 0))
    tasks = tuple(_tasks(trial, test, began, seconds))
    return TestResult(
        test=test.name, status="ok", started_at=began, ended_at=began + timedelta(seconds=seconds),
        tasks=tasks, rates=tuple(_rates(trial, test)), usages=tuple(_usages(tasks, began, seconds)),
        series=tuple(_series(each, is_new, began, seconds) for each in test.series),
        load=_course(trial, began) if test.loads else None,
        environments=(LOGGED,), log_group="/Tidemark/kiwi",
    )  # fmt: skip


def _tasks(trial, test, began, seconds):
    for index, service in enumerate(["", *test.services]):
        name = f"{trial.trial:03d}{test.name}{index}"
        yield TaskResult(
            index=index, status="ok", service=service, exit_code=0, started_at=began,
            task_arn=f"arn:aws:ecs:eu-west-2:1:task/c/{name}", log_stream=f"kiwi/kiwi/{name}",
            stopped_at=began + timedelta(seconds=seconds),
            step=test.steps[-1].name if test.steps and not service else "",
        )  # fmt: skip


def _rates(trial, test):
    for metric, statistic in test.figures():
        for operation in OPERATIONS if metric.labels else [None]:
            labels = {"operation": operation} if operation else {}
            rate = no_rate(metric, statistic, labels)
            yield rate.model_copy(update={"value": _value(trial, metric, operation), "samples": 9})


def _is_new(trial):
    return trial.version in (NEW, PUBLISHED[1])


def _value(trial, metric, operation):
    is_new = _is_new(trial)
    if metric.name == "supported_users":
        return float(USERS[trial.axes["database"]][is_new])
    if metric.name == "latency":
        slower = 1.2 if is_new and operation == "TestRun.create" else 1.0
        place = OPERATIONS.index(operation) if operation else 0
        return (20.0 + place) * slower * (1 + trial.repetition / 100)
    return {
        "failures": 0.0, "throughput": 9.9, "load_cpu": 0.08, "load_late": 1.0,
        "ramp_up_requests": 12.0, "database_time": 4.0, "statements": 12.0,
    }[metric.name]  # fmt: skip


def _series(series, is_new, began, seconds):
    points = tuple(
        Point(at=timestamp(began + timedelta(seconds=second)), value=_wave(series.unit, second))
        for second in range(0, seconds, 10)
    )
    return MeasuredSeries(name=series.name, unit=series.unit, points=points)


def _wave(unit, second):
    return {"users": 10.0, "ms": 20.0, "requests/s": 9.0}.get(unit, 0.0) + math.sin(second) ** 2


def _usages(tasks, began, seconds):
    for second in range(1, seconds, 5):
        for task in tasks:
            cpu = 0.9 if task.service == "server" else 0.1
            yield Usage(
                task_id=task.task_id, logged_at=timestamp(began + timedelta(seconds=second)),
                cpu=cpu + math.sin(second) / 20, memory=400.0 + second, network_in=1e6,
                network_out=2e6, disk_read=0.0, disk_written=1e5,
            )  # fmt: skip


def _course(trial, began):
    users = _value(trial, trial_metric("supported_users"), None)
    held = tuple(
        HeldLevel(
            users=round(users * share), connected=users * share, values={"mean_ms": 60 * share},
            hit=("mean_ms",) if share > 1 else (), begun_at=began + timedelta(seconds=10 * n),
            ended_at=began + timedelta(seconds=10 * n + 9), decision="the search goes on",
            cpu={"server": 0.9 * share},
        )
        for n, share in enumerate((0.25, 0.5, 1.0, 2.0, 1.02))
    )  # fmt: skip
    return LoadCourse(
        level=5, users={}, settle_seconds=4, hold_seconds=10, started_at=began, begun_at=began,
        held=held, over=True, found=(users,), end="found",
        reason=f"{users:,.0f} users are supported",
    )  # fmt: skip


def trial_metric(name):
    """Return a metric of the suite kiwi."""
    tests = read_suites()["kiwi"].tests
    return next(metric for test in tests for metric in test.metrics if metric.name == name)
