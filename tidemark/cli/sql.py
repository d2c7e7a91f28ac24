"""``tidemark sql``: a statement over all figures, with Athena's answer."""

from __future__ import annotations

import re

import click

from tidemark.cli.saving import format_option, show
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.tables import Answer, StatementFailed, Tables
from tidemark.model.refusal import Refused
from tidemark.model.sentences import did_you_mean, plural, there_are
from tidemark.store.columns import TABLES

# Athena's reasons name a column by itself, and a table with its catalogue and database.
_UNKNOWN = re.compile(r"^(?P<kind>COLUMN|TABLE)_NOT_FOUND: .*?'(?:[\w-]+\.)*(?P<name>\w+)'")
_MISPLACED = "mismatched input"
_EXPECTED = "; expected a statement such as SELECT version, avg(value) FROM rates GROUP BY version"
_COLUMNS = "; SELECT * FROM rates LIMIT 1 shows the columns of rates"
_LONGEST_STATEMENT = 262_144  # AWS documentation, StartQueryExecution: QueryString


@click.command(name="sql")
@click.argument("statement")
@format_option
@target_options
def command(statement: str, form: str, target: Target) -> None:
    """Query the tables of results with a SELECT in Athena's SQL.

    The tables are runs, rates, latest_rates, task_rates, task_usage, version_rates,
    verdicts, profiles and changes.

    \b
    Example:
      tidemark sql "SELECT title, version, mean, stddev FROM version_rates"
    """
    if not 0 < len(statement.strip()) <= _LONGEST_STATEMENT:
        raise Refused(
            f"STATEMENT: {len(statement.strip())} characters are not accepted; "
            f"expected 1 to {_LONGEST_STATEMENT:,}"
        )
    with stored(target) as store:
        answer = _answer(store.tables, statement)
    show(answer.columns, answer.records(), form)
    read = f"{answer.bytes_scanned:,} bytes read in {answer.milliseconds:,} ms"
    click.echo(f"{plural(len(answer.rows), 'row')}, {read}", err=True)


def _answer(tables: Tables, statement: str) -> Answer:
    try:
        return tables.ask(statement)
    except StatementFailed as error:
        raise StatementFailed(f"{error}{_meant(str(error))}") from None


def _meant(reason: str) -> str:
    """Return the table or column that was meant, or how to find it; '' for another reason."""
    unknown = _UNKNOWN.match(reason)
    if unknown is None:
        return _EXPECTED if _MISPLACED in reason else ""
    if unknown["kind"] == "TABLE":
        return f"; {there_are(TABLES, unknown['name'])}"
    columns = dict.fromkeys(column for table in TABLES.values() for column in table)
    return did_you_mean(unknown["name"], columns) or _COLUMNS
