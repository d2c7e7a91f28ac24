"""RecordRates: write the rows of a run's trials in Athena's tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.rows import Row, keep_latest, packed, rate_rows, sample_rows, usage_rows
from tidemark.store.stored_run import StoredRun, fold
from tidemark.store.version_rows import judged_against_bases, verdict_rows, version_rate_rows


def record_rates(bucket: Bucket, run_id: str) -> dict[str, int]:
    """Write all rows of a run's trials; return the number of rows of each kind."""
    return fold(bucket, run_id, lambda run: write_rates(bucket, run))


def write_rates(bucket: Bucket, run: StoredRun) -> dict[str, int]:
    """Write the rows of a run as it was read; return the number of rows of each kind."""
    suite, run_id, counts = run.plan.suite.name, run.plan.run_id, Counter[str]()
    of_trials = (run.trials, run.exclusions)
    rates = packed(_counted(rate_rows(run.plan, *of_trials), "rates", counts))
    samples = packed(_counted(sample_rows(*of_trials), "samples", counts))
    bucket.write(keys.table("task_rates", suite, run_id), samples)
    judged = judged_against_bases(run)
    more = {
        "task_usage": usage_rows(*of_trials),
        "version_rates": version_rate_rows(run, judged),
        "verdicts": verdict_rows(run, judged),
    }
    for table, rows in more.items():
        bucket.write(keys.table(table, suite, run_id), packed(rows))
    if counts["rates"]:
        keep_latest(bucket, "latest_rates", suite, run_id, rates)
    # An import knows by these rows that the others are written.
    bucket.write(keys.table("rates", suite, run_id), rates)
    return {"rates": counts["rates"], "samples": counts["samples"]}


def _counted(rows: Iterator[Row], kind: str, counts: Counter[str]) -> Iterator[Row]:
    """Yield rows and count them: all rows of a large run would not fit into a function."""
    for row in rows:
        counts[kind] += 1
        yield row
