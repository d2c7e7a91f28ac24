"""The time of a run, and its cost on AWS."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from tidemark.model.cost import Basis, Estimate, Prices
from tidemark.model.numerals import MISSING
from tidemark.money.budget import Spent, counted, passed
from tidemark.money.run_cost import billed_seconds, insights_bytes, run_cost, task_seconds
from tidemark.report.blocks import Block, Row, Table
from tidemark.report.run_report.measured import MeasuredRun

_BASES: Mapping[Basis, str] = {
    "declared times": "the durations of tests in the suite",
    "time limits": "the time limits of the tests, and is an upper bound",
    "most repetitions": "the most repetitions that the run may take, and is an upper bound",
}


def spent(run: MeasuredRun) -> tuple[Block, ...]:
    """Return the table of time and cost beside the estimate, and sentences that explain them."""
    texts = (_shortage(run), _explanation(run.plan.prices), _expectation(run.plan.estimate))
    return _table(run), *(text for text in texts if text)


def _table(run: MeasuredRun) -> Table:
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
        f"({estimate.athena_bytes:,} bytes, the least that Athena bills); their actual costs are "
        "not recorded."
    )


def _duration(run: MeasuredRun) -> str:
    ended = run.ended_at()
    return _clock((ended - run.plan.started_at).total_seconds()) if ended else MISSING


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))
