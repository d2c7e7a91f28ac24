"""What a run leaves behind: its rows of the tables."""

from __future__ import annotations

from collections.abc import Sequence

from lambdas import tables
from lambdas.aws import Bucket
from lambdas.latest import keep_latest
from lambdas.outcome import Outcome
from lambdas.results import TrialResult
from lambdas.stored import StoredRun, fold, read_resumes, read_trials
from suites import keys
from suites.plan import Plan


def record_rates(bucket: Bucket, run_id: str) -> dict[str, int]:
    """Write a run's rows of its tables, whole; return how many there are of each kind."""
    return fold(bucket, run_id, lambda run: write_rates(bucket, run))


def write_rates(bucket: Bucket, run: StoredRun) -> dict[str, int]:
    """Write the rows of a run as it was read; return how many there are of each kind."""
    rates = list(tables.rate_rows(run.plan, run.trials, run.exclusions))
    samples = list(tables.sample_rows(run.trials, run.exclusions))
    usages = list(tables.usage_rows(run.trials, run.exclusions))
    for table, rows in (("rates", rates), ("task_rates", samples), ("task_usage", usages)):
        key = keys.table(table, run.plan.suite.name, run.plan.run_id)
        bucket.write(key, tables.packed(rows))
    if rates:
        keep_latest(bucket, run.plan.suite.name, run.plan.run_id, tables.packed(rates))
    return {"rates": len(rates), "samples": len(samples)}


def record_run(bucket: Bucket, plan: Plan, trials: Sequence[TrialResult], outcome: Outcome) -> None:
    """Write a run's row of ``runs``; again, if it has another outcome when that is written.

    Several may end a run at once: whoever writes last has then seen the outcome that stays.
    """
    resumes = read_resumes(bucket, plan.run_id)
    while True:
        row = tables.run_row(
            plan, trials, outcome.status, outcome.reason, outcome.ended_at, resumes
        )
        bucket.write(keys.table("runs", plan.suite.name, plan.run_id), tables.packed([row]))
        stored = Outcome.model_validate_json(bucket.read(keys.outcome(plan.run_id)))
        if stored == outcome:
            return
        trials, outcome = read_trials(bucket, plan.run_id), stored
