"""What a run leaves behind: its rows of the tables and its outcome."""

from __future__ import annotations

from datetime import datetime

from lambdas import tables
from lambdas.aws import Bucket
from lambdas.outcome import Outcome
from lambdas.stored import read_exclusions, read_plan, read_trials
from suites import keys
from suites.plan import Plan


def record_rates(bucket: Bucket, run_id: str) -> dict[str, int]:
    """Write a run's rows of ``rates`` and ``task_rates``, whole; return how many there are."""
    plan, trials = read_plan(bucket, run_id), read_trials(bucket, run_id)
    exclusions = read_exclusions(bucket, run_id)
    rates = list(tables.rate_rows(plan, trials, exclusions))
    samples = list(tables.sample_rows(trials, exclusions))
    for table, rows in (("rates", rates), ("task_rates", samples)):
        bucket.write(keys.table(table, plan.suite.name, run_id), tables.packed(rows))
    return {"rates": len(rates), "samples": len(samples)}


def record_run(bucket: Bucket, plan: Plan, outcome: Outcome, ended_at: datetime) -> None:
    """Write a run's row of ``runs``."""
    trials = read_trials(bucket, plan.run_id)
    row = tables.run_row(plan, trials, outcome.status, outcome.reason, ended_at)
    bucket.write(keys.table("runs", plan.suite.name, plan.run_id), tables.packed([row]))
