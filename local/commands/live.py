"""A run as it goes on, and what it gave."""

from __future__ import annotations

import json
import time
from collections.abc import Set
from dataclasses import dataclass
from itertools import count
from typing import Any

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from local.commands.report import FILES, save_report
from local.commands.target import Target
from local.commands.wording import duration, resume_hint
from local.following import Run, RunClient
from suites.estimate import estimate_seconds
from suites.numerals import percent
from suites.plan import Plan
from suites.refusal import Refused


@dataclass(frozen=True)
class Pace:
    """How fast the trials of an execution are measured."""

    done: int
    of: int
    measuring: float
    """Seconds from its beginning until the last of those that are done was recorded."""

    def told(self, elapsed: float, trial_seconds: float) -> str:
        """Return how long it goes on, ``elapsed`` [s], and about how long it still takes.

        While no trial is done, one takes ``trial_seconds``. Of what should have ended by then
        nobody knows how long it still takes.
        """
        if self.done:
            trial_seconds = self.measuring / self.done
        left = trial_seconds * self.of - elapsed
        told = f"elapsed {duration(elapsed)}"
        return f"{told}, left about {duration(left)}" if left > 0 else told


def follow(client: RunClient, run: Run, at_once: int, console: Console) -> None:
    """Print each trial as it is recorded, and the one that goes on, until the run has ended.

    Trials that were recorded before are not printed. ``at_once`` tasks run side by side.
    """
    began = time.monotonic()
    known = set(client.results.recorded(run.run_id))
    before = len(known)
    measuring = 0.0
    with Live(Text("planning"), console=console, transient=True) as live:
        plan = client.results.plan(run.run_id)
        while plan is None and client.active(run):
            time.sleep(client.poll_seconds)
            plan = client.results.plan(run.run_id)
        if plan is None:
            return
        active = True
        while active:
            active = client.active(run)
            for number in client.results.recorded(run.run_id, after=_next(known) - 1):
                if number not in known:
                    known.add(number)
                    measuring = time.monotonic() - began
                    line = _trial_line(client.results.trial(run.run_id, number), len(plan.trials))
                    live.console.print(line, soft_wrap=True, markup=False)
            trial = _next(known)
            whole = estimate_seconds(plan.request, plan.suite, at_once)
            pace = Pace(len(known) - before, len(plan.trials) - before, measuring)
            times = pace.told(time.monotonic() - began, whole / len(plan.trials))
            live.update(Text(f"{place(client, run, plan, trial)}   {times}"))
            if active:
                time.sleep(client.poll_seconds)


def place(client: RunClient, run: Run, plan: Plan, trial: int) -> str:
    """Return where a run is whose first trial without a record is ``trial``."""
    if trial > len(plan.trials):
        return "report"
    where = f"trial {trial} of {len(plan.trials)}  {plan.trials[trial - 1].version}"
    test = client.current_test(run, plan, trial)
    return f"{where}  {test}" if test else where


def show_result(client: RunClient, run: Run, target: Target, console: Console) -> int:
    """Print the run's table and why it failed, if it did; return the exit code.

    Raises
    ------
    Refused
        If the run was not begun, since its input is not accepted now.
    """
    client.await_end([run.run_id])
    status, cause = client.status(run)
    refused = client.results.outcome(run.own_id)
    if refused and refused["status"] == "rejected":
        raise Refused(refused["reason"])
    plan = client.results.plan(run.run_id)
    if plan:
        if summary := client.results.report(plan.suite.name, run.run_id, "summary.json"):
            console.print(_table(json.loads(summary)))
        for path in save_report(client.results, plan.suite.name, run.run_id, target.state):
            kind = "Report" if path.name in FILES else "Comparison"
            console.print(f"{kind}: {path}", soft_wrap=True, markup=False)
    if status == "SUCCEEDED":
        return 0
    outcome = client.results.outcome(run.run_id)
    # An execution that FAILED says why. Of others only the outcome knows, which EndRun wrote.
    reason = outcome["reason"] if outcome and status != "FAILED" else cause or status
    failure = Text(f"The run did not complete: {reason}", style="red")
    console.print(failure, soft_wrap=True)
    # The budget that a run has spent would end it again at once.
    greater = " --budget-usd USD" if reason.startswith("budget_usd: ") else ""
    progress = client.results.progress(run.run_id)
    if hint := resume_hint(run.run_id, progress, greater + target.flags):
        console.print(f"What was measured is kept; {hint}.", soft_wrap=True)
    return 1


def _trial_line(trial: dict[str, Any], of: int) -> str:
    head = f"trial {trial['trial']} of {of}  {trial['version']:>8}"
    if trial["status"] != "ok":
        return f"{head}  {trial['status']}: {trial['reason']}"
    rates = [
        f"{rate['metric']} {rate['value']:,.1f} {rate['unit']}"
        for test in trial["tests"]
        for rate in test["rates"]
    ]
    return f"{head}  {'  '.join(rates)}"


def _next(known: Set[int]) -> int:
    """Return the first trial that is missing: they are measured in order."""
    return next(number for number in count(1) if number not in known)


def _table(rates: list[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("Version", "Metric"):
        table.add_column(name, no_wrap=True)
    for name in ("Rate", "± spread"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Unit", no_wrap=True)
    for name in ("Samples", "Δ before"):
        table.add_column(name, justify="right", no_wrap=True)
    before = None
    for rate in rates:
        if before not in {None, rate["metric"]}:
            table.add_section()
        before = rate["metric"]
        value, spread, change = rate["value"], rate["spread"], rate["change"]
        table.add_row(
            rate["version"],
            rate["metric"],
            "missing" if value is None else f"{value:,.1f}",
            "" if spread is None else f"{spread:,.1f}",
            rate["unit"],
            str(rate["samples"]),
            "" if change is None else percent(change),
        )
    return table
