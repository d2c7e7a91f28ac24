"""What a run took: time, and what that costs on AWS."""

from __future__ import annotations

from datetime import timedelta

from lambdas.budget import Spent, counted, passed
from lambdas.cost import billed_seconds, insights_bytes, run_cost, task_seconds
from lambdas.report.blocks import Block, Row, Table
from lambdas.report.figures import MISSING
from lambdas.report.measured import MeasuredRun
from suites.estimate import Estimate
from suites.prices import Prices


def spent(run: MeasuredRun) -> tuple[Block, ...]:
    """Return the table of time and cost, beside what was expected, and how they came about."""
    said = (_shortage(run), _explanation(run.plan.prices), _expectation(run.plan.estimate))
    return _table(run), *(text for text in said if text)


def _table(run: MeasuredRun) -> Table:
    cost = run_cost(run.plan, run.trials)
    tasks, queries, total = (cost.tasks, cost.queries, cost.total) if cost else (None, None, None)
    scanned, budget = insights_bytes(run.trials), run.budget_usd()
    said = [
        ("Duration [h:mm:ss]", _duration(run), ""),
        ("Task time", f"{task_seconds(run.trials):,.1f} s", ""),
        ("Task time that Fargate bills", f"{billed_seconds(run.trials):,} s", _usd(tasks)),
        ("Log events scanned by queries", MISSING if scanned is None else f"{scanned:,} bytes",
         _usd(queries)),
        ("Cost in all", "", _usd(total)),
        ("Budget", "", "none" if budget is None else _usd(budget)),
    ]  # fmt: skip
    numbers = ("Amount", "On AWS [USD]", "Expected", "Expected [USD]")
    both = zip(said, _expected(run.plan.estimate), strict=True)
    return Table(
        caption="Time and cost of the run",
        columns=("What", *numbers),
        rows=tuple(Row((*cells, *expected)) for cells, expected in both),
        numbers=frozenset(numbers),
    )


def _shortage(run: MeasuredRun) -> str | None:
    """Return why trials are missing of a run whose budget has no room for the next."""
    budget = run.budget_usd()
    if budget is None or not run.unrecorded():
        return None
    return passed(counted(Spent(), run.plan, run.trials), run.plan, budget)


def _expected(estimate: Estimate | None) -> list[tuple[str, str]]:
    """Return what was expected of each row of the table: an amount, and what it costs."""
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
        "The cost is that of the recorded tasks and log queries on AWS at the list prices of "
        f"{prices.region} of {prices.as_of}: {prices.vcpu_hour} USD for an hour of a vCPU, "
        f"{prices.memory_hour} of 1 GB of memory, {prices.storage_hour} of 1 GB of disk beyond 20, "
        f"{prices.address_hour} of a public address, {prices.scanned_gb} for 1 GB that log queries "
        f"scan ({prices.architecture}, Linux). Fargate bills a task for a minute at least. "
        "A run on one machine costs nothing: for it this is an estimate of the same on AWS. "
        "Storage and requests to S3 are left out."
    )


def _expectation(estimate: Estimate | None) -> str:
    if estimate is None:
        return "The run was planned without an estimate of what it would take."
    basis = (
        "how long the suite says that its tests take"
        if estimate.basis == "declared times"
        else "the time limits of the tests, and is the most that they may take"
    )
    return (
        f"What was expected, on AWS, was worked out before the run from {basis}. Beside it "
        f"{_usd(estimate.services_usd)} USD were expected for {estimate.transitions:,} state "
        "transitions, functions, log events taken in and CloudWatch metrics, and "
        f"{_usd(estimate.athena_usd)} USD for asking Athena each saved query once "
        f"({estimate.athena_bytes:,} bytes, as Athena bills at least); of these is not recorded "
        "what they were."
    )


def _duration(run: MeasuredRun) -> str:
    ended = run.ended_at()
    return _clock((ended - run.plan.started_at).total_seconds()) if ended else MISSING


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))
