"""``tidemark runs``: what was run, and how it ended."""

from __future__ import annotations

from pathlib import Path

import click

from local.commands.formats import format_option, show
from local.commands.options import state_option
from local.commands.tables import deployed_tables


@click.command(name="runs")
@click.argument("suite", required=False)
@format_option
@state_option
def command(suite: str | None, form: str, state: Path) -> None:
    """List the runs of SUITE, or of all suites, the newest first.

    \b
    Example:
      tidemark runs rocksdb --format markdown
    """
    with deployed_tables(state) as tables:
        answer = tables.saved("run_health", **({"suite": suite} if suite else {}))
    # A wrapped query keeps no order.
    newest_first = sorted(answer.records(), key=lambda run: run["run_id"] or "", reverse=True)
    show(answer.columns, newest_first, form)
