"""``tidemark query``: Logs Insights over log files, or over the stored logs of runs."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import click

from local.account import ACCOUNT
from local.cancellation import interruptible
from local.insights import (
    CompiledQuery,
    EventsError,
    EventSource,
    LookupTableError,
    QueryError,
    QueryResult,
    run,
)
from local.insights import compile as compile_query
from local.insights.group_choice import NoLogGroupError, chosen
from local.logs.clocks import LETTERS, Clock, field_clock, format_clock
from local.logs.files import log_files
from local.logs.folders import LogFilesError, files_of
from local.logs.mending import mend
from local.logs.parsed import ParsedCache
from local.logs.store import LogStore, LogStoreError
from tidemark.cli.formats import format_option, show
from tidemark.cli.log_paths import STANDARD_INPUT, damages, files_at, recognised, unread
from tidemark.cli.options import Moment, MomentType, state_flag, state_option
from tidemark.cli.query_progress import reading
from tidemark.cli.wording import plural
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed


def _tables(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> dict[str, Path]:
    tables = {}
    for pair in pairs:
        name, equals, file = pair.partition("=")
        if not (name and equals and file):
            raise Refused(f"--lookup-table: {pair!r} is not of the form NAME=FILE")
        if name in tables:
            raise Refused(f"--lookup-table: {name!r} is given twice")
        tables[name] = Path(file)
    for table in tables.values():
        if not _is_file(str(table)):
            raise Refused(f"--lookup-table: there is no file {str(table)!r}")
    return tables


@click.command(name="query")
@click.argument("query")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--log-group", "groups", multiple=True, help="Stored log group to query; if not given, all."
)
@click.option("--start", type=MomentType(), help="First second: ISO 8601, epoch, or -1h.")
@click.option("--end", type=MomentType(), help="Last second: ISO 8601, epoch, or -1h.")
@click.option(
    "--lookup-table",
    "tables",
    multiple=True,
    metavar="NAME=FILE",
    callback=_tables,
    help="CSV file that lookup and cidrlookup take columns from.",
)
@click.option("--time-field", metavar="NAME", help="JSON field that holds the time of a line.")
@click.option("--time-format", metavar="FORMAT", help="Form of the times, as %d.%m.%Y %H:%M:%S.")
@click.option("--strict", is_flag=True, help="Refuse damaged files.")
@click.option("--lint", is_flag=True, help="Only check whether the query, or each, is accepted.")
@click.option("--explain", is_flag=True, help="Only show the query's stages and its SQL.")
@format_option
@state_option
def command(
    query: str,
    paths: tuple[str, ...],
    groups: tuple[str, ...],
    start: Moment | None,
    end: Moment | None,
    tables: dict[str, Path],
    time_field: str | None,
    time_format: str | None,
    strict: bool,
    lint: bool,
    explain: bool,
    form: str,
    state: Path,
) -> None:
    """Run a Logs Insights query over log files or stored logs.

    QUERY is a file, the text of a query, or - for standard input. Each PATH is a text file, plain
    or packed by gzip, a folder of such files, or - for standard input. Without a PATH, the stored
    log groups are queried. The time of a line is recognised by the first lines of its file, or else
    is the time of the file's last change. Files may also hold events as JSON lines or as `aws logs
    filter-log-events` prints them. --lint and --explain read no logs and may be combined; with
    --lint alone, each PATH is another query.

    \b
    Examples:
      tidemark query queries/logs/ingest_rate.cwli
      tidemark query 'filter @message like /ERROR/ | stats count(*) by bin(1m)' app.log
    """
    _check_paths(paths, groups, time_field or time_format)
    clock = _clock(time_field, time_format)
    if lint and paths and not explain:
        _lint([query, *paths], tables)
        return
    if query == STANDARD_INPUT and STANDARD_INPUT in paths:
        raise Refused("PATH: - is standard input, but QUERY is read from it already")
    window = _window(start, end)
    name, text = _query_text(query)
    try:
        compiled = compile_query(text)
        if explain or lint:
            _check(compiled, tables, explain=explain, lint=lint)
            _tell(recognised(files_of(map(Path, set(paths) - {STANDARD_INPUT})), clock, {}))
        elif paths:
            result = _over_files(compiled, paths, clock, window, tables, strict=strict)
            _show(result, form)
        else:
            events, named = _stored(compiled, groups, state)
            _show(_run(compiled, events, named, window, tables), form)
    except QueryError as error:
        raise Refused(_place(name, error)) from None
    except (LogFilesError, LookupTableError) as error:
        raise Refused(str(error)) from None
    except EventsError as error:
        raise _damaged(error, paths, state) from None
    except LogStoreError as error:
        raise click.ClickException(str(error)) from None


def _check_paths(paths: tuple[str, ...], groups: tuple[str, ...], times: str | None) -> None:
    if groups and paths:
        raise Refused(f"--log-group: {groups[0]!r} is a stored log group; use it without a PATH")
    if times and not paths:
        raise Refused(
            "--time-field, --time-format: stored logs have their times; use it with a PATH"
        )


def _clock(field: str | None, form: str | None) -> Clock | None:
    """Return the clock that the user names, None if the lines of each file choose one."""
    if form is None:
        return field_clock(field) if field else None
    try:
        clock = format_clock(form)
    except ValueError:
        letters = ", ".join(f"%{letter}" for letter in LETTERS)
        raise Refused(f"--time-format: {form!r} is not of the letters {letters}") from None
    return field_clock(field, form) if field else clock


def _window(start: Moment | None, end: Moment | None) -> tuple[int | None, int | None]:
    if start and end and start.seconds > end.seconds:
        raise Refused(f"--start: {start.text} is after the end, {end.text}")
    return start.seconds if start else None, end.seconds if end else None


def _lint(queries: list[str], tables: dict[str, Path]) -> None:
    """Check queries; raise Refused with the errors of all that are not accepted."""
    errors = []
    for query in queries:
        name, text = _query_text(query)
        try:
            result = run(compile_query(text), EventSource.union([]), tables=tables)
        except QueryError as error:
            errors.append(_place(name, error))
            continue
        click.echo(f"{name}: accepted")
        _warn(f"{name}: {warning}" for warning in result.warnings)
    if errors:
        raise Refused("\n".join(errors))


def _place(name: str, error: QueryError) -> str:
    """Return the sentence of an error after the name of its query, and the line with a caret."""
    return "\n".join(line for line in (f"{name}: {error}", error.excerpt()) if line)


def _run(
    query: CompiledQuery,
    events: EventSource,
    named: EventSource,
    window: tuple[int | None, int | None],
    tables: dict[str, Path],
) -> QueryResult:
    with reading() as told:
        return interruptible(
            lambda ending: run(
                query, events, *window, None, named, tables, told, cancellation=ending
            )
        )


def _damaged(error: EventsError, paths: tuple[str, ...], state: Path) -> Exception:
    """Return the error for events that cannot be read: of the user's files, or stored ones."""
    if paths:
        return Refused(str(error))
    return click.ClickException(LogStore(state / "logs").damage() or str(error))


def _query_text(query: str) -> tuple[str, str]:
    """Return the place of a query, for messages, and its text."""
    try:
        if query == STANDARD_INPUT:
            return "<stdin>", sys.stdin.buffer.read().decode()
        if query.endswith(".cwli") or _is_file(query):
            return query, Path(query).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{query}: this is no text in UTF-8") from None
    except OSError as error:
        raise Refused(f"{query}: this file cannot be read: {error.strerror}") from None
    return "query", query


def _is_file(query: str) -> bool:
    try:
        return Path(query).is_file()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False


def _over_files(
    query: CompiledQuery,
    paths: tuple[str, ...],
    clock: Clock | None,
    window: tuple[int | None, int | None],
    tables: dict[str, Path],
    *,
    strict: bool,
) -> QueryResult:
    """Return the result over files; if they are damaged, over copies of what can be read."""
    with files_at(paths) as (files, folder):
        # Files belong to no account.
        _named(query, "", [str(file) for file in files])
        _warn(unread(paths))

        def over(copies: Mapping[Path, Path | None]) -> QueryResult:
            events = log_files(files, clock=clock, copies=copies)
            result = _run(query, events, events, window, tables)
            if window != (None, None) or query.uses_times:
                _tell(recognised(files, clock, copies))
            return result

        try:
            return over({})
        except (LogFilesError, EventsError):
            if strict or not all(file.exists() for file in files):
                raise
            mended = mend(files, folder)
            if not any(mended.copies.values()):
                raise
        result = over(mended.copies)
    return replace(result, warnings=(*result.warnings, *damages(mended)))


def _tell(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        click.echo(sentence, err=True)


def _stored(
    query: CompiledQuery, groups: tuple[str, ...], state: Path
) -> tuple[EventSource, EventSource]:
    """Return the events of the stored log groups, and of the groups that the query names."""
    if groups and query.sources:
        raise Refused(f"--log-group: {groups[0]!r} is given, but the query has a SOURCE")
    store = LogStore(state / "logs", ACCOUNT, cache=ParsedCache(state / "parsed"))
    known = store.groups()
    if not known:
        hint = f"`tidemark run{state_flag(state)}` writes some"
        raise Refused(f"--state: {state} holds no logs; {hint}")
    for group in groups:
        if group not in known:
            raise Refused(f"--log-group: {group!r} is not stored; there are {listed(known)}")
    named = _named(query, ACCOUNT, known)
    return store.events(groups or known), store.events(named)


def _named(query: CompiledQuery, account: str, known: Collection[str]) -> list[str]:
    """Return the log groups that the query names; raise Refused if one does not exist."""
    try:
        return chosen(query.named, account, known)
    except NoLogGroupError as error:
        raise Refused(f"{error}; there are {listed(known)}") from None


def _check(compiled: CompiledQuery, tables: dict[str, Path], *, explain: bool, lint: bool) -> None:
    result = run(compiled, EventSource.union([]), tables=tables)
    if explain:
        _explain(compiled)
    if lint:
        click.echo("accepted")
    _warn(result.warnings)


def _explain(compiled: CompiledQuery) -> None:
    sql = compiled.statements
    for number, stage in enumerate(compiled.stages, 1):
        click.echo(f"{number}. {stage}")
    if sql.parsed:
        click.echo(f"\nCREATE TEMP VIEW parsed AS\n{sql.parsed};")
    if sql.groups:
        click.echo(f"\nCREATE TEMP TABLE groups AS\n{sql.groups};")
    click.echo(f"\n{sql.result};")


def _show(result: QueryResult, form: str) -> None:
    columns = [column for column in result.columns if column != "@ptr"]
    rows = [{cell["field"]: cell["value"] for cell in row} for row in result.rows]
    show(columns, rows, form)
    counts = result.statistics
    click.echo(
        f"{plural(len(rows), 'row')}; {counts['recordsMatched']:,.0f} of "
        f"{counts['recordsScanned']:,.0f} events matched, {counts['bytesScanned']:,.0f} bytes read",
        err=True,
    )
    _warn(result.warnings)


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
