"""Stored runs with two of everything that a page can show.

There are two suites with two sizes, two databases and metrics of both directions. Changes exceed
±100 %, a test fails, a trial is excluded, versions and weeks lack figures, and a metric has one
point alone.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from tests.plans import plan_of
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import ENVIRONMENT
from tidemark.figures.trial_status import trial_result
from tidemark.model.metric import Metric
from tidemark.model.results import (
    NO_EXCLUSIONS,
    Exclusion,
    Exclusions,
    Sample,
    TaskResult,
    TestResult,
    no_rate,
)
from tidemark.model.suite import Suite
from tidemark.model.suite_files import read_suites
from tidemark.store import keys
from tidemark.store.history import record_history
from tidemark.store.rows import packed, rate_rows, run_row, sample_rows
from tidemark.store.stored_run import StoredRun
from tidemark.store.version_rows import judged_against_bases, verdict_rows, version_rate_rows

DATABASES = ("mariadb", "postgresql")
SMALL, LARGE = 200_000, 1_000_000
METRICS = {
    "ingest": ("ingest_rate", "records/s", "higher", 700_000.0),
    "read": ("read_latency", "ms", "lower", 12.0),
    "compaction": ("compaction_rate", "records/s", "higher", 2_000_000.0),
    "scan": ("scan_rate", "records/s", "higher", 90_000.0),
}
"""By test: its metric, with its unit, its better direction and its typical value."""
# By suite and version, the value as a share of the typical one, by test and database.
SHARES = {
    ("rocksdb", "9.8.4"): {
        "ingest": (1.157, 0.99), "read": (0.5, 13.8), "compaction": (0.015, 3.5),
    },
    ("sleeper", "0.31.0"): {
        "ingest": (0.9673, 0.8), "read": (1.185, 0.6), "compaction": (2.6, 1.0),
    },
}  # fmt: skip
SLOW_SINCE = "8.10.0"
"""The version of RocksDB with which its level of ingest falls, and does not recover."""
UNCERTAIN = ("sleeper", "0.31.0", "compaction", "mariadb")
"""The figure that scatters so much that its interval exceeds 100 %."""
# These tests of these versions fail.
FAILS = {("rocksdb", "9.0.0", "scan"), ("sleeper", "0.30.1", "compaction")}
START = datetime(2026, 8, 3, 3, tzinfo=UTC)


class Planned(NamedTuple):
    """A run: when it started, and what it measured."""

    suite: str
    day: int
    """The days from ``START``."""
    versions: tuple[str, ...]
    repetitions: int
    records: int
    status: str = "complete"


RUNS = (
    *(Planned("rocksdb", day, ("8.8.1",), 1, SMALL) for day in range(16)),
    *(Planned("rocksdb", day, (SLOW_SINCE,), 1, SMALL) for day in range(16, 26)),
    Planned("rocksdb", 42, ("9.0.0", "9.8.4"), 5, SMALL),
    Planned("rocksdb", 44, ("8.8.1",), 1, SMALL, "aborted"),
    Planned("rocksdb", 63, ("8.8.1", "9.0.0", "9.8.4"), 6, LARGE, "incomplete"),
    Planned("sleeper", -14, ("0.30.0",), 2, SMALL),
    Planned("sleeper", 35, ("0.30.0", "0.30.1"), 2, SMALL, "incomplete"),
    Planned("sleeper", 56, ("0.30.0", "0.30.1", "0.31.0"), 6, LARGE, "failed"),
    Planned("sleeper", 77, ("0.31.0",), 1, SMALL),
)


def stored_runs() -> list[StoredRun]:
    """Return the runs, each suite's in their order; every call returns equal runs."""
    return [_run(number, planned) for number, planned in enumerate(RUNS)]


def tables(runs: list[StoredRun]) -> dict[str, bytes]:
    """Return the objects of the tables of the runs, by key, as each run's recording leaves them."""
    bucket = FakeBucket()
    for run, planned in zip(runs, RUNS, strict=True):
        stopped = run.trials[0].reason or "it was stopped"
        record(bucket, run, planned.status, "" if planned.status == "complete" else stopped)
    return {key: body for key, body in bucket.objects.items() if key.startswith("tables/")}


def record(bucket: FakeBucket, run: StoredRun, status: str = "complete", reason: str = "") -> None:
    """Write a run's rows into the tables and into the history of its suite."""
    plan, trials, exclusions, _ = run
    ended = plan.started_at + timedelta(minutes=5)
    rows = {
        "rates": rate_rows(plan, trials, exclusions),
        "task_rates": sample_rows(trials, exclusions),
        "runs": [run_row(plan, trials, status, reason, ended)],
        "version_rates": version_rate_rows(run, judged_against_bases(run)),
        "verdicts": verdict_rows(run),
    }
    for table, each in rows.items():
        bucket.write(keys.table(table, plan.suite.name, plan.run_id), packed(each))
    record_history(bucket, run)


def _run(number: int, planned: Planned) -> StoredRun:
    chance = random.Random(number)
    started = START + timedelta(days=planned.day)
    fields = {
        "suite": planned.suite, "versions": list(planned.versions), "records": planned.records,
        "repetitions": planned.repetitions,
    }  # fmt: skip
    plan = plan_of(
        fields,
        suite=_suite(planned),
        name=f"{started:%Y%m%dT%H%M%SZ}-{number:06x}",
        started_at=started,
    )
    trials = [
        trial_result(plan, trial, dict(_measured(chance, plan, trial)), "") for trial in plan.trials
    ]
    at = started + timedelta(days=1)
    noisy = Exclusions({"004": Exclusion(excluded=True, reason="noisy", at=at)})
    return StoredRun(plan, trials, noisy if planned.status == "incomplete" else NO_EXCLUSIONS, [])


def _suite(planned: Planned) -> Suite:
    """Return the shipped suite with another name, two databases and tests of its own."""
    shipped = read_suites()["rocksdb"]
    versions = dict.fromkeys(planned.versions, "0.3.20")
    own = {
        "name": planned.suite,
        "title": planned.suite.title(),
        "axes": {"database": DATABASES},
        "subject": shipped.subject.model_copy(update={"versions": versions}),
        "tests": tuple(
            shipped.tests[0].model_copy(update={"name": test, "metrics": (_metric(test),)})
            for test in METRICS
            if test != "scan" or (planned.suite, planned.records) == ("rocksdb", LARGE)
        ),
    }
    return shipped.model_copy(update=own)


def _metric(test: str) -> Metric:
    metric, unit, direction, _ = METRICS[test]
    return Metric(name=metric, unit=unit, direction=direction, query="ingest_rate")


def _measured(chance, plan, trial) -> Iterator[tuple[str, TestResult]]:
    """Yield the results of a trial's tests by their names, up to the first failure."""
    for number, test in enumerate(plan.suite.tests):
        started = plan.started_at + timedelta(seconds=40 * trial.trial + 10 * number)
        rate = _rate(chance, plan.suite.name, test.name, trial)
        failed = (plan.suite.name, trial.version, test.name) in FAILS
        records = plan.request.parameters["records"]
        yield test.name, _result(trial, test.metrics[0], test.name, started, rate, failed, records)
        if failed:
            return


def _rate(chance, suite, test, trial) -> float:
    database = trial.axes["database"]
    shares = SHARES.get((suite, trial.version), {}).get(test, (1.0, 1.0))
    share = shares[DATABASES.index(database)]
    if suite == "rocksdb" and test == "ingest" and trial.version != "8.8.1":
        share *= 0.7  # since SLOW_SINCE
    spread = 0.25 if (suite, trial.version, test, database) == UNCERTAIN else 0.01
    return METRICS[test][-1] * share * chance.gauss(1, spread)


def _result(trial, metric, test, started, rate, failed, records) -> TestResult:
    values = [round(rate * part, 4) for part in (0.98, 1.02)]
    stream = f"system/system/{trial.trial:03d}{test}"
    status, reason = ("failed", "its container ended with exit code 1") if failed else ("ok", "")
    task = TaskResult(
        index=0, status=status, exit_code=int(failed), started_at=started, log_stream=stream,
        task_arn=f"arn:aws:ecs:eu-west-2:1:task/c/{trial.trial:03d}{test}",
        stopped_at=started + timedelta(seconds=5),
    )  # fmt: skip
    samples = (
        Sample(
            metric=metric.name, log_stream=stream, job=str(line), value_text=str(value),
            value=value, records=records,
            logged_at=f"{started + timedelta(seconds=line):%Y-%m-%d %H:%M:%S}.000",
        )
        for line, value in enumerate(values, start=1)
    )  # fmt: skip
    mean = None if failed else sum(values) / 2
    figures = {"value": mean, "samples": 2, "expected": 2, "min": min(values), "max": max(values)}
    return TestResult(
        test=test, status=status, reason=reason, started_at=started, ended_at=task.stopped_at,
        tasks=(task,), rates=(no_rate(metric, "mean", {}).model_copy(update=figures),),
        samples=tuple(samples), environments=(ENVIRONMENT,),
    )  # fmt: skip
