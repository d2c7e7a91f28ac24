"""Writers of the rows of a run's trials in Athena's tables."""

from __future__ import annotations

from tidemark.store import keys
from tidemark.store import rows as tables
from tidemark.store.bucket import Bucket
from tidemark.store.latest_rates import keep_latest
from tidemark.store.stored_run import StoredRun, fold
from tidemark.store.verdict_rows import verdict_rows


def record_rates(bucket: Bucket, run_id: str) -> dict[str, int]:
    """Write all rows of a run's trials; return the number of rows of each kind."""
    return fold(bucket, run_id, lambda run: write_rates(bucket, run))


def write_rates(bucket: Bucket, run: StoredRun) -> dict[str, int]:
    """Write the rows of a run as it was read; return the number of rows of each kind."""
    rates = list(tables.rate_rows(run.plan, run.trials, run.exclusions))
    samples = list(tables.sample_rows(run.trials, run.exclusions))
    usages = list(tables.usage_rows(run.trials, run.exclusions))
    for table, rows in (
        ("rates", rates),
        ("task_rates", samples),
        ("task_usage", usages),
        ("verdicts", list(verdict_rows(run))),
    ):
        key = keys.table(table, run.plan.suite.name, run.plan.run_id)
        bucket.write(key, tables.packed(rows))
    if rates:
        keep_latest(bucket, run.plan.suite.name, run.plan.run_id, tables.packed(rates))
    return {"rates": len(rates), "samples": len(samples)}
