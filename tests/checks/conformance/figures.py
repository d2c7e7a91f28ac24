"""Table rows of runs of every kind, as data for the saved queries."""

from __future__ import annotations

import gzip
import json
import math
import random
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.plans import plan_of
from tidemark.figures.trial_status import trial_result
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.results import (
    NO_EXCLUSIONS,
    WHOLE_RUN,
    Exclusion,
    Exclusions,
    Rate,
    Sample,
    TaskResult,
    TestResult,
    TrialResult,
)
from tidemark.model.suite import Test
from tidemark.model.version_order import version_order
from tidemark.store import keys
from tidemark.store.columns import PARTITIONS, TABLES
from tidemark.store.rows import packed, rate_rows, run_row, sample_rows
from tidemark.store.stored_run import StoredRun
from tidemark.store.version_rows import judged_against_bases, verdict_rows, version_rate_rows

Row = dict[str, Any]
Objects = dict[str, bytes]
# RocksDB versions; a text comparison orders them otherwise.
VERSIONS = ["8.8.1", "8.10.0", "9.0.0", "9.8.4"]
# Source: the table at the end of Sleeper's documentation of its system tests.
SLEEPER = {
    "0.11.0": ("2022-06-13", "366000", "160000"),
    "0.12.0": ("2022-10-18", "378000", "146600"),
    "0.13.0": ("2023-01-06", "326000", "144000"),
    "0.14.0": ("2023-01-20", "349000", "153000"),
    "0.15.0": ("2023-03-30", "336000", "136000"),
    "0.16.0": ("2023-04-28", "325000", "137000"),
}


def stored_figures() -> Objects:
    """Return the objects of the tables by key; every call returns the same objects."""
    chance = random.Random(476)
    objects: Objects = {}
    for year, day in ((2024, 30), (2025, 1), (2026, 20)):
        objects |= run_objects(chance, datetime(year, 11, day, 12, 44, 55, 123000, tzinfo=UTC))
    exclusions = _excluding(WHOLE_RUN, "002")
    objects |= run_objects(
        chance, datetime(2026, 11, 21, tzinfo=UTC), exclusions, note='"it\'s", 50 %\\ ∞'
    )
    objects |= run_objects(
        chance, datetime(2026, 11, 22, tzinfo=UTC), _excluding("002"), records=10_000
    )
    objects |= run_objects(chance, datetime(2023, 12, 31, 23, 59, 59, tzinfo=UTC))
    objects |= _imported("sleeper", "20261101T000000Z-0000aa", _sleeper())
    objects |= _imported("rocksdb", "20261102T000000Z-0000bb", _latencies())
    objects |= _changes()
    return objects | _latest(objects)


def rows_of(objects: Mapping[str, bytes], table: str) -> Iterator[Row]:
    """Yield the rows of a table with its suite and all columns, None for a column not stored."""
    for key, body in objects.items():
        _, name, suite, *_ = key.split("/")
        if name != table:
            continue
        for line in gzip.decompress(body).splitlines():
            row = {**json.loads(line), "suite": suite.removeprefix("suite=")}
            yield {column: row.get(column) for column in (*TABLES[table], *PARTITIONS)}


def run_objects(
    chance: random.Random,
    started: datetime,
    exclusions: Exclusions = NO_EXCLUSIONS,
    note: str = "",
    records: int = 1_000_000,
    most_trials: int | None = None,
) -> Objects:
    """Return the table objects of a run, of its first trials if it was stopped."""
    plan, measured = measured_run(chance, started, note, records)
    trials = measured[:most_trials]
    ended = started + timedelta(minutes=7)
    row = run_row(plan, trials, "incomplete", "ingest: 1 task died", ended)
    run = StoredRun(plan, trials, exclusions, [])
    rows = {
        "rates": rate_rows(plan, trials, exclusions),
        "task_rates": sample_rows(trials, exclusions),
        "runs": [row],
        "version_rates": version_rate_rows(run, judged_against_bases(run)),
        "verdicts": verdict_rows(run),
    }
    return {keys.table(table, "rocksdb", plan.run_id): packed(each) for table, each in rows.items()}


def measured_run(
    chance: random.Random, started: datetime, note: str = "", records: int = 1_000_000
) -> tuple[Plan, list[TrialResult]]:
    """Return a run with three trials per version; trial 5 has no rate."""
    fields = {
        "versions": VERSIONS, "repetitions": 3, "tasks": 2, "records": records, "note": note,
    }  # fmt: skip
    name = f"{started:%Y%m%dT%H%M%SZ}-{chance.getrandbits(24):06x}"
    plan = plan_of(fields, name=name, started_at=started)
    return plan, [_trial(chance, plan, trial) for trial in plan.trials]


def _trial(chance: random.Random, plan: Plan, trial: PlannedTrial) -> TrialResult:
    measured = {
        test.name: _test(chance, plan, test, whole=trial.trial != 5) for test in plan.suite.tests
    }
    return trial_result(plan, trial, measured, "")


def _test(chance: random.Random, plan: Plan, test: Test, *, whole: bool) -> TestResult:
    """Return a test with two tasks; if not ``whole``, one logged rate is not finite."""
    (metric,) = test.metrics
    tasks = [
        TaskResult(
            index=index,
            status="ok",
            task_arn=f"arn:aws:ecs:eu-west-2:123456789012:task/c/{chance.getrandbits(128):032x}",
            exit_code=0,
            started_at=plan.started_at,
            stopped_at=plan.started_at + timedelta(seconds=chance.uniform(3, 9)),
        )
        for index in range(2)
    ]
    texts = [f"{chance.uniform(1e5, 3e6):.3f}" for _ in range(2 * test.jobs)]
    values: list[float | None] = [float(text) for text in texts]
    if not whole:
        texts[0], values[0] = "∞", None
    samples = [
        Sample(
            metric=metric.name,
            log_stream=f"rocksdb/rocksdb/{tasks[line % 2].task_id}",
            logged_at=f"{plan.started_at:%Y-%m-%d %H:%M}:{line:02d}.007",
            job=f"job-{line}" if test.jobs > 2 else None,
            value_text=text,
            value=value,
            records=1_000_000,
        )
        for line, (text, value) in enumerate(zip(texts, values, strict=True))
    ]
    finite = [value for value in values if value is not None]
    rate = Rate(
        metric=metric.name,
        unit=metric.unit,
        direction=metric.direction,
        value=statistics.fmean(finite) if whole else None,
        samples=len(finite),
        expected=len(values),
        not_finite=len(values) - len(finite),
        stddev=statistics.stdev(finite),
        min=min(finite),
        max=max(finite),
        records=1_000_000 * len(finite),
    )
    return TestResult(
        test=test.name,
        status="ok" if whole else "incomplete",
        started_at=plan.started_at,
        ended_at=plan.started_at + timedelta(seconds=10),
        tasks=tuple(tasks),
        rates=(rate,),
        samples=tuple(samples),
        environments=({"cpu_model": "Epyc", "arch": "x86_64"},),
    )


def _excluding(*names: str) -> Exclusions:
    at = datetime(2026, 11, 23, tzinfo=UTC)
    return Exclusions({name: Exclusion(excluded=True, reason="noisy", at=at) for name in names})


def _latest(objects: Objects) -> Objects:
    """Return copies of the newest rates; a suite has two, as before the older one's deletion."""
    rates = sorted(key for key in objects if key.startswith("tables/rates/"))
    suites = [
        [key for key in rates if f"suite={suite}/" in key] for suite in ("rocksdb", "sleeper")
    ]
    newest = [key for of_suite in suites for key in of_suite[-2:]]
    return {key.replace("/rates/", "/latest_rates/"): objects[key] for key in newest}


def _changes() -> Objects:
    """Return the changes of level as of two runs of one suite, and of a run without any."""
    older, newer, unchanged = (f"202611{day}T000000Z-0000cc" for day in (20, 22, 23))
    step = _change("", -0.0, accepted_level=None)
    accepted = _change(
        '{"operation": "read"}', 0.1 + 0.2, accepted_level=1e21,
        acknowledged_until="2027-01-31", acknowledged_reason='"it\'s", 50 %\\ ∞',
    )  # fmt: skip
    changes = {("rocksdb", older): [step], ("rocksdb", newer): [step, accepted],
               ("sleeper", unchanged): [{"untold": "cannot tell yet."}]}  # fmt: skip
    return {
        keys.table("changes", suite, run_id): packed({**row, "run_id": run_id} for row in rows)
        for (suite, run_id), rows in changes.items()
    }


def _change(labels: str, change: float, **accepted: Any) -> Row:
    figure = {
        "test": "load", "metric": "latency", "statistic": "p99" if labels else "mean",
        "labels": labels, "unit": "ms",
    }  # fmt: skip
    return {
        **figure, "title": title(figure), "direction": "lower",
        "changed_run": "20261119T000000Z-0000dd", "changed_at": "2026-11-19 00:00:00.007",
        "version": "8.10.0", "version_before": "8.8.1", "level_before": 3e-5, "level_after": 0.0,
        "change": change, "verdict": "slower", "cause": "version", "schema": 7, "state": "new",
        "is_open": True, "family": 2, **accepted,
    }  # fmt: skip


def _imported(suite: str, run_id: str, rows: Iterator[Row]) -> Objects:
    """Return the objects of imported rates, whose rows lack most columns."""
    run = {
        "run_id": run_id,
        "status": "complete",
        "trigger": "import",
        "started_at": "2026-11-01 00:00:00.000",
        "versions": [],
        "schema": 1,
    }
    rates = [
        {"run_id": run_id, "trial": trial, **row, "title": title(row)}
        for trial, row in enumerate(rows, start=1)
    ]
    return tables_of(suite, run_id, rates=rates, runs=[run])


def _sleeper() -> Iterator[Row]:
    for version, (date, compaction, ingest) in SLEEPER.items():
        for test, text in (("compaction", compaction), ("ingest", ingest)):
            yield _published(test, "rate", version, text, "records/s", "higher", date)


def _latencies() -> Iterator[Row]:
    """Yield features that RocksDB's suite lacks: labels, a percentile, lower is better, zeros."""
    for operation, texts in {"read": ("0.0", "1.25"), "write": ("3e-5", "1e21")}.items():
        for version, text in zip(("8.8.1", "8.10.0"), texts, strict=True):
            latency = _published("load", "latency", version, text, "ms", "lower", "2026-11-02")
            yield {**latency, "statistic": "p99", "labels": json.dumps({"operation": operation})}
    # One metric is also measured; the other has one version only.
    for test, version, text in (("ingest", "8.8.1", "5.5e5"), ("verify", "9.0.0", "7")):
        yield _published(test, f"{test}_rate", version, text, "records/s", "higher", "2026-11-02")


def _published(
    test: str, metric: str, version: str, text: str, unit: str, direction: str, date: str
) -> Row:
    return {
        **mean_rate(test, metric, version, float(text), unit, direction),
        "value_text": text,
        "excluded": False,
        "status": "ok",
        "started_at": f"{date} 00:00:00.000",
        "provenance": "imported",
        "source": "a published table",
        "schema": 1,
    }


def mean_rate(
    test: str, metric: str, version: str, value: float | None, unit: str, direction: str
) -> Row:
    """Return the columns of a rate that describe its measurement."""
    figure = {"test": test, "metric": metric, "statistic": "mean", "labels": "", "unit": unit}
    return {
        **figure,
        "title": title(figure),
        "version": version,
        "version_order": version_order(version, packaged=True),
        "direction": direction,
        "value": value,
    }


def tables_of(suite: str, run_id: str, **tables: Sequence[Row]) -> Objects:
    """Return the objects of a run's rows by table, with the figures that its rates give."""
    tables["version_rates"] = version_rates_of(tables.get("rates", ()), tables.get("runs", ()))
    return {keys.table(table, suite, run_id): packed(rows) for table, rows in tables.items()}


_FIGURE = ("run_id", "test", "metric", "statistic", "labels", "version")


def version_rates_of(rates: Iterable[Row], runs: Iterable[Row] = ()) -> list[Row]:
    """Return rows of ``version_rates`` plainly worked out from rows of ``rates`` and ``runs``.

    They have no verdicts, and only the versions with a rate that counts.
    """
    by_run = {run["run_id"]: run for run in runs}
    figures: dict[tuple[Any, ...], list[Row]] = {}
    for rate in rates:
        if rate["value"] is not None and not rate.get("excluded"):
            figures.setdefault(tuple(rate[name] for name in _FIGURE), []).append(rate)
    return [_version_rate(of_trials, by_run) for of_trials in figures.values()]


def _version_rate(rates: list[Row], runs: Mapping[str, Row]) -> Row:
    last, values = rates[-1], sorted(rate["value"] for rate in rates)
    starts = [rate["started_at"] for rate in rates]
    middle = _ordered_sum(values) / len(values)
    scatter = _ordered_sum((value - middle) * (value - middle) for value in values)
    logarithms = [math.log(value) for value in values if value > 0]
    copied = (*_FIGURE, "unit", "direction", "version_order")
    return {
        **{column: last[column] for column in copied},
        "title": title(last),
        "trials": len(values),
        "mean": middle,
        "stddev": _spread(scatter, len(values)),
        "min": values[0],
        "max": values[-1],
        "mean_logarithm": (
            _ordered_sum(logarithms) / len(values) if len(logarithms) == len(values) else None
        ),
        "first_at": min(starts),
        "last_at": max(starts),
        "image_digest": last.get("image_digest"),
        "value_text": last.get("value_text") if len(values) == 1 else None,
        "sizes": _sizes(runs.get(last["run_id"], {})),
        "provenance": last.get("provenance"),
    }


def _spread(scatter: float, count: int) -> float | None:
    spread = math.sqrt(scatter / (count - 1)) if count > 1 else math.inf
    return spread if math.isfinite(spread) else None


def title(row: Row) -> str:
    """Return the name for people of the figure of a row."""
    words = [row["metric"].replace("_", " "), row["statistic"], row["labels"].replace('"', "")]
    of_test = [] if row["metric"].startswith(row["test"]) else [row["test"]]
    name = " ".join(word for word in [*of_test, *words] if word not in {"", "mean"})
    return f"{name} ({row['unit']})"


def _sizes(run: Row) -> str:
    if run.get("parameters"):
        return str(run["parameters"])
    return f"{run['tasks']:,} × {run['records']:,}" if run.get("records") else "unknown"


def _ordered_sum(numbers: Iterable[float]) -> float:
    """Return the sum in this order, rounded after each addition; ``sum`` rounds less often."""
    total = 0.0
    for number in numbers:
        total += number
    return total
