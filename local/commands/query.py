"""``tidemark query``: Logs Insights over the logs that runs left on this machine."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import IO

import click
from rich import box
from rich.console import Console
from rich.table import Table

from local.cloud.endpoint import ACCOUNT
from local.commands.options import state_option
from local.insights import EventsError, QueryError, QueryResult, run
from local.insights import compile as compile_query
from local.logs.store import LogStore, LogStoreError
from suites.refusal import Refused, listed


@click.command(name="query")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--log-group", "groups", multiple=True, help="Log group to query; all, if not given.")
@click.option("--start", type=int, default=0, help="First second of the events, epoch seconds.")
@click.option(
    "--end", type=int, help="Last second of the events, epoch seconds; now, if not given."
)
@state_option
def command(
    file: IO[str], groups: tuple[str, ...], start: int, end: int | None, state: Path
) -> None:
    """Run a Logs Insights query, FILE or - for standard input, over the stored logs.

    \b
    Example:
      tidemark query queries/logs/ingest_rate.cwli
    """
    try:
        query = compile_query(file.read())
    except QueryError as error:
        click.echo(f"{file.name}: {error}\n{error.excerpt()}", err=True)
        sys.exit(2)
    except UnicodeDecodeError:
        raise Refused(f"{file.name}: this is no text in UTF-8") from None
    store = LogStore(state / "logs", ACCOUNT)
    known = store.groups()
    if not known:
        raise Refused(f"--state: {state} holds no logs; `tidemark run` leaves some")
    for group in groups:
        if group not in known:
            raise Refused(f"--log-group: {group!r} is not stored; there are {listed(known)}")
    last = int(time.time()) if end is None else end
    if start > last:
        raise Refused(f"--start: {start} is after the end, {last}")
    try:
        result = run(query, store.events(groups or known), start, last)
    except QueryError as error:
        click.echo(f"{file.name}: {error}\n{error.excerpt()}", err=True)
        sys.exit(2)
    except (EventsError, LogStoreError) as error:
        raise click.ClickException(str(error)) from None
    _show(result)


def _show(result: QueryResult) -> None:
    shown = [column for column in result.columns if column != "@ptr"]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in shown:
        table.add_column(column, overflow="fold")
    for row in result.rows:
        cells = {cell["field"]: cell["value"] for cell in row}
        table.add_row(*(cells.get(column, "") for column in shown))
    # A program that reads the output gets each row on one line, however long.
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 10_000)
    console.print(table)
    counts = result.statistics
    console.print(
        f"{len(result.rows):,} rows; {counts['recordsMatched']:,.0f} of "
        f"{counts['recordsScanned']:,.0f} events matched, {counts['bytesScanned']:,.0f} bytes read"
    )
    for warning in result.warnings:
        click.echo(f"warning: {warning}", err=True)
