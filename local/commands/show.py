"""``tidemark show``: one run, as its report tells it."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console
from rich.markdown import Markdown

from local.commands.options import optional_run_argument
from local.commands.tables import tables_of
from local.commands.target import Target, deployed, target_options
from local.commands.wording import going_on
from local.following import RunClient
from local.sql_client import SqlClient
from suites.refusal import Refused


@click.command(name="show")
@optional_run_argument
@target_options
def command(run: str | None, target: Target) -> None:
    """Show what RUN, or the newest one, measured and how it ended.

    Of a run that goes on it says how far it is.

    \b
    Example:
      tidemark show 20261120T124455Z-0a1b2c
    """
    with deployed(target) as cloud, tables_of(cloud) as tables:
        client = cloud.runs()
        run = run or _newest(client, tables, target)
        results = client.results
        plan, outcome, progress = results.plan(run), results.outcome(run), results.progress(run)
        report = results.report(plan.suite.name, run, "report.md") if plan else None
        goes_on = run in results.claims()
    if progress is None:
        raise target.not_stored(run)
    if goes_on:
        click.echo(f"Run {run} {going_on(run, progress, target.flags)}\n")
    else:
        click.echo(f"Run {run} is {_ended(outcome)}\n")
    text = report.decode() if report else "It has no report.\n"
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        click.echo(plain(text), nl=False)


def plain(text: str) -> str:
    """Return Markdown without the backslashes that only a renderer needs; bars in cells keep them.

    Source: CommonMark 0.31, "Backslash escapes".
    """
    return re.sub(r"\\([\\`*\[\]<>&~$_])", r"\1", text)


def _ended(outcome: Mapping[str, Any] | None) -> str:
    if outcome is None:
        return "without an outcome"
    return f"{outcome['status']}: {outcome['reason']}" if outcome["reason"] else outcome["status"]


def _newest(client: RunClient, tables: SqlClient, target: Target) -> str:
    """Return a run that goes on, or else the newest that has ended."""
    ended = [row["run_id"] for row in tables.saved("run_health", limit=1).records()]
    newest = max(client.results.claims(), default=None) or next(iter(ended), None)
    if newest is None:
        raise Refused(f"RUN: {target.nothing_stored}")
    return newest
