"""``tidemark sql``: a statement over all figures, as Athena would answer it."""

from __future__ import annotations

import click

from local.commands.formats import format_option, show
from local.commands.tables import deployed_tables
from local.commands.target import Target, target_options
from local.commands.wording import plural
from suites.refusal import Refused

_LONGEST_STATEMENT = 262_144  # AWS documentation, StartQueryExecution: QueryString


@click.command(name="sql")
@click.argument("statement")
@format_option
@target_options
def command(statement: str, form: str, target: Target) -> None:
    """Ask the tables of results with a SELECT in Athena's SQL.

    They are runs, rates, latest_rates, task_rates, task_usage and verdicts.

    \b
    Example:
      tidemark sql "SELECT version, avg(value) FROM rates GROUP BY version"
    """
    if not 0 < len(statement.strip()) <= _LONGEST_STATEMENT:
        raise Refused(
            f"STATEMENT: it has {len(statement.strip())} characters; "
            f"accepted are 1 to {_LONGEST_STATEMENT:,}"
        )
    with deployed_tables(target) as tables:
        answer = tables.ask(statement)
    show(answer.columns, answer.records(), form)
    read = f"{answer.bytes_scanned:,} bytes read in {answer.milliseconds:,} ms"
    click.echo(f"{plural(len(answer.rows), 'row')}, {read}", err=True)
