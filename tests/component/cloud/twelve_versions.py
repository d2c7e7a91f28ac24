"""A history of twelve versions in the tables, with all possible gaps and faults."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from onebox.athena import api as athena
from tests.checks.conformance.figures import mean_rate, tables_of
from tests.checks.conformance.local_engine import LocalEngine, described
from tidemark.client.tables import Answer
from tidemark.store import keys
from tidemark.store.columns import TABLES, timestamp
from tidemark.store.rows import packed

VERSIONS = [f"9.{minor}.0" for minor in range(12)]
ALONE = "9.4.0"  # has one trial, of a smaller test
WITHOUT_COMPACTION = "9.2.0"
FIRST_VERIFIED = "9.6.0"  # has a metric that earlier versions lack
IN_MICROSECONDS = "9.8.0"  # the first version with another unit of latency
EXCLUDED = VERSIONS[-1]  # has a trial that does not count
INJECTED = """</script><script>document.title = "run"</script> "it's" & <b>"""
WIDE = "20260105T030000Z-00aaaa"  # the run of many versions and metrics
START = datetime(2026, 1, 5, 3, tzinfo=UTC)


class Tables:
    """The tables of a store in memory."""

    def __init__(self, objects: Mapping[str, bytes], suites: str = "rocksdb,sleeper") -> None:
        self._engine = LocalEngine(objects)
        tables = {table: described(table, "results", suites) for table in TABLES}
        self._catalogue = {"tidemark": tables}

    def ask(self, statement, parameters=()):
        literals = [f"'{value}'" for value in parameters]
        result = athena.run(
            statement, self._engine, self._catalogue, database="tidemark", parameters=literals
        )
        return Answer([name for name, _ in result.columns], result.rows, 0, 0)


def stored_history():
    """Return the objects of the tables by key: one run a week, each of one version."""
    chance = random.Random(12)
    objects = {}
    for week, version in enumerate(VERSIONS):
        started = START + timedelta(weeks=week)
        run_id = f"{started:%Y%m%dT%H%M%SZ}-{week:06x}"
        trials = 1 if version == ALONE else 3
        rates = [
            row
            for trial in range(1, trials + 1)
            for row in _trial(chance, version, run_id, trial, started + timedelta(minutes=trial))
        ]
        short = version == WITHOUT_COMPACTION
        run = {
            "run_id": run_id,
            "status": "incomplete" if short else "complete",
            "reason": f"compaction: {INJECTED}" if short else "",
            "trigger": "schedule",
            "note": "",
            "started_at": timestamp(started),
            "ended_at": timestamp(started + timedelta(minutes=5)),
            "versions": [version],
            "tasks": 1,
            "records": 10_000 if version == ALONE else 1_000_000,
            "trials_planned": trials,
            "trials_done": trials,
            "task_seconds": 77.0,
            "cost_usd": 0.05,
            "schema": 3,
        }
        samples = [sample for row in rates for sample in _samples(row)]
        objects |= tables_of("rocksdb", run_id, rates=rates, runs=[run], task_rates=samples)
    change = {
        "run_id": run_id, "test": "ingest", "metric": "ingest_rate", "statistic": "mean",
        "labels": "", "unit": "records/s", "direction": "higher", "changed_run": run_id,
        "changed_at": timestamp(started), "version": version, "version_before": VERSIONS[-2],
        "level_before": 1000.0, "level_after": 900.0, "change": -0.1, "verdict": "slower",
        "cause": "version", "accepted_level": 1000.0, "title": "ingest rate (records/s)",
        "state": "new", "is_open": True, "family": 2,
    }  # fmt: skip
    untold = {"run_id": run_id, "untold": "cannot tell yet: 3 of about 6 runs."}
    return {**objects, keys.table("changes", "rocksdb", run_id): packed([change, untold])}


def wide_history():
    """Return the objects of two suites by key: a run of 30 versions, whose last metric halves."""
    rates = [
        {
            **mean_rate("t", f"metric_{metric:02}", f"{version}.0", value, "1/s", "higher"),
            "run_id": WIDE,
            "trial": 3 * version + trial,
            "started_at": timestamp(START),
        }
        for version in range(30)
        for metric in range(12)
        for trial in range(3)
        # All values differ.
        for whole in [50 if (version, metric) == (29, 11) else 100]
        for value in [whole + version / 7 + metric / 11 + trial / 3]
    ]
    run = {"run_id": WIDE, "status": "complete", "started_at": timestamp(START)}
    verdicts = [
        {
            "run_id": WIDE, "test": "t", "metric": f"metric_{metric:02}", "statistic": "mean",
            "labels": "", "baseline": "28.0", "version": "29.0", "reason": "",
            "verdict": "slower" if metric == 11 else "same", "trials_base": 3, "trials_new": 3,
            "effect": -0.4 if metric == 11 else 0.01,
        }
        for metric in range(12)
    ]  # fmt: skip
    return {
        key: body
        for suite in ("rocksdb", "sleeper")
        for key, body in tables_of(suite, WIDE, rates=rates, runs=[run], verdicts=verdicts).items()
    }


def _trial(chance, version, run_id, trial, started):
    place = VERSIONS.index(version)
    speed = 1 + 0.02 * place - (0.09 if version == VERSIONS[-1] else 0)
    micro = place >= VERSIONS.index(IN_MICROSECONDS)
    measured = [
        ("ingest", "ingest_rate", 700_000 * speed, "records/s", "higher"),
        ("compaction", "compaction_rate", 2_000_000 * speed, "records/s", "higher"),
        (
            "read",
            "read_latency",
            (850 if micro else 0.85) / speed,
            "us" if micro else "ms",
            "lower",
        ),
    ]
    if place >= VERSIONS.index(FIRST_VERIFIED):
        measured.append(("verify", "verify_rate", 90_000 * speed, "records/s", "higher"))
    for test, metric, value, unit, direction in measured:
        missing = version == WITHOUT_COMPACTION and test == "compaction"
        mean = round(value * chance.gauss(1, 0.015), 4)
        yield {
            **mean_rate(test, metric, version, None if missing else mean, unit, direction),
            "run_id": run_id,
            "trial": trial,
            "samples": 4,
            "min": None if missing else 0.98 * mean,
            "max": None if missing else 1.02 * mean,
            "expected": 4,
            "excluded": version == EXCLUDED and trial == 2,
            "status": "incomplete" if missing else "ok",
            "started_at": timestamp(started),
            "ended_at": timestamp(started + timedelta(minutes=1)),
            "provenance": "measured",
            "cpu_model": "Epyc",
            "schema": 3,
        }


def _samples(row):
    """Yield the four samples of a trial, whose mean is its rate."""
    same = ("run_id", "trial", "test", "metric", "labels", "version", "excluded", "cpu_model")
    for line, share in enumerate((0.98, 0.99, 1.01, 1.02)):
        value = None if row["value"] is None else row["value"] * share
        yield {
            **{name: row[name] for name in same},
            "log_stream": "rocksdb/rocksdb/1",
            "logged_at": row["ended_at"],
            "line": line,
            "task_id": "1",
            "value": value,
            "value_text": "∞" if value is None else f"{value:.4f}",
            "records": 1_000_000,
            "schema": 3,
        }
