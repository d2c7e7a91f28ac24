"""What a run took: time, and what that costs on AWS."""

from __future__ import annotations

from lambdas.cost import billed_seconds, insights_bytes, run_cost, task_seconds
from lambdas.report.blocks import Block, Row, Table
from lambdas.report.figures import MISSING
from lambdas.report.measured import MeasuredRun
from suites.prices import Prices


def spent(run: MeasuredRun) -> tuple[Block, ...]:
    """Return the table of time and cost, and how the cost came about."""
    return _table(run), _explanation(run.plan.prices)


def _table(run: MeasuredRun) -> Table:
    cost = run_cost(run.plan, run.trials)
    tasks, queries, total = (cost.tasks, cost.queries, cost.total) if cost else (None, None, None)
    scanned = insights_bytes(run.trials)
    said = [
        ("Duration [h:mm:ss]", _duration(run), ""),
        ("Task time", f"{task_seconds(run.trials):,.1f} s", ""),
        ("Task time that Fargate bills", f"{billed_seconds(run.trials):,} s", _usd(tasks)),
        ("Log events scanned by queries", MISSING if scanned is None else f"{scanned:,} bytes",
         _usd(queries)),
        ("Cost in all", "", _usd(total)),
    ]  # fmt: skip
    return Table(
        caption="Time and cost of the run",
        columns=("What", "Amount", "On AWS [USD]"),
        rows=tuple(map(Row, said)),
        numbers=frozenset({"Amount", "On AWS [USD]"}),
    )


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
        "A run on one machine costs nothing: for it this is an estimate of the same on AWS. State "
        "transitions, functions, CloudWatch metrics and storage are left out; with a few tasks "
        "they come to about a tenth of a cent a trial."
    )


def _duration(run: MeasuredRun) -> str:
    ended = run.ended_at()
    return str(ended - run.plan.started_at).partition(".")[0] if ended else MISSING
