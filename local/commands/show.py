"""``tidemark show``: one run, as its report tells it."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.markdown import Markdown

from local.commands.deployed import deployed
from local.commands.options import optional_run_argument, state_option
from local.sql_client import SqlClient
from suites.refusal import Refused


@click.command(name="show")
@optional_run_argument
@state_option
def command(run: str | None, state: Path) -> None:
    """Show what RUN, or the newest one, measured, on what, and how it ended.

    \b
    Example:
      tidemark show 20261120T124455Z-0a1b2c
    """
    with deployed(state) as cloud:
        run = run or _newest(SqlClient(cloud.endpoint.client, cloud.stack))
        results = cloud.runs().results
        plan, outcome = results.plan(run), results.outcome(run)
        report = results.report(plan.suite.name, run, "report.md") if plan else None
    if plan is None:
        raise Refused(f"RUN: {run} is not stored")
        if run in results.claims():
            outcome = None  # that of an execution before; the run was resumed
    status = outcome["status"] if outcome else "not ended"
    reason = f": {outcome['reason']}" if outcome and outcome["reason"] else ""
    click.echo(f"Run {run} is {status}{reason}\n")
    text = report.decode() if report else "It has no report.\n"
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        click.echo(text, nl=False)


def _newest(tables: SqlClient) -> str:
    """Return the newest run that has ended."""
    ended = tables.saved("run_health", limit=1).records()
    if not ended or ended[0]["run_id"] is None:
        raise Refused("RUN: no run has ended yet; `tidemark run` measures some versions")
    return ended[0]["run_id"]
