"""``tidemark sql``: a statement over all figures, with Athena's answer."""

from __future__ import annotations

import click

from tidemark.cli.formats import format_option, show
from tidemark.cli.target import Target, stored, target_options
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural

_LONGEST_STATEMENT = 262_144  # AWS documentation, StartQueryExecution: QueryString


@click.command(name="sql")
@click.argument("statement")
@format_option
@target_options
def command(statement: str, form: str, target: Target) -> None:
    """Query the tables of results with a SELECT in Athena's SQL.

    The tables are runs, rates, latest_rates, task_rates, task_usage, verdicts,
    profiles and changes.

    \b
    Example:
      tidemark sql "SELECT version, avg(value) FROM rates GROUP BY version"
    """
    if not 0 < len(statement.strip()) <= _LONGEST_STATEMENT:
        raise Refused(
            f"STATEMENT: {len(statement.strip())} characters are not accepted; "
            f"expected 1 to {_LONGEST_STATEMENT:,}"
        )
    with stored(target) as store:
        answer = store.tables.ask(statement)
    show(answer.columns, answer.records(), form)
    read = f"{answer.bytes_scanned:,} bytes read in {answer.milliseconds:,} ms"
    click.echo(f"{plural(len(answer.rows), 'row')}, {read}", err=True)
