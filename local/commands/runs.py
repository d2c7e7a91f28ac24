"""``tidemark runs``: what was run, and how it ended."""

from __future__ import annotations

from pathlib import Path

import click

from local.commands.formats import format_option, show
from local.commands.options import state_option
from local.commands.tables import deployed_tables


@click.command(name="runs")
@click.argument("suite", required=False)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many at most."
)
@click.option("--all", "every", is_flag=True, help="All of them.")
@format_option
@state_option
def command(suite: str | None, limit: int, every: bool, form: str, state: Path) -> None:
    """List the runs of SUITE, or of all suites, the newest first.

    \b
    Example:
      tidemark runs rocksdb --limit 5 --format markdown
    """
    with deployed_tables(state) as tables:
        asked = {"suite": suite} if suite else {}
        answer = tables.saved("run_health", asked, limit=None if every else limit)
    show(answer.columns, answer.records(), form)
