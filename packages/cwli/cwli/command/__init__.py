"""``cwli``: Logs Insights over log files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import click

from cwli.command.arguments import (
    STANDARD_INPUT,
    Moment,
    MomentType,
    beginning,
    lookup_tables,
    on_disk,
    place_in_file,
    place_of,
    query_text,
)
from cwli.command.log_query import LogQuery, Window, recognised
from cwli.formats import Show, format_option, lines_of_bars, plural, show
from cwli.insights import (
    CompiledQuery,
    EventsError,
    EventSource,
    LookupTableError,
    QueryError,
    QueryResult,
    run,
)
from cwli.insights import compile as compile_query
from cwli.program import ENDED, Refused, execute, tell, warn
from cwli.readers.clocks import ANYTHING, Beginning, Clock, field_clock, format_clock
from cwli.readers.files import inspected
from cwli.readers.folders import LogFilesError

if TYPE_CHECKING:
    from cwli.sources.written import Written


HELP = """Run a Logs Insights query over {logs}.

QUERY is a file, the text of a query, or - for standard input. Each PATH is a text file, plain
or packed by gzip, bzip2 or zstd, a folder of such files, or - for standard input.{without_path}

The first lines of a file show how to read the times of its lines. A line without a time belongs
to the event before. In a file without times, each line has the time of the file's last change.
Files may also hold events as JSON lines or as `aws logs filter-log-events` prints them.

--lint and --explain read no logs and may be combined. With --lint alone, each PATH is another
query, a folder of queries, or a source of CloudFormation, the CDK or Terraform.

\b
Examples:
  {program} {example}
  {program} 'filter @message like /ERROR/ | stats count(*) by bin(1m)' app.log
"""
"""The help of the command, and of a command over other logs, too."""
_MOST_UNCHECKED = 20


def main() -> NoReturn:
    """Run the command and end the process."""
    execute(command, "cwli")


@click.command(
    help=HELP.format(logs="log files", without_path="", program="cwli", example="--lint rate.cwli"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("query")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(readable=False))
@click.option(
    "--start",
    type=MomentType(),
    help="First second of events: ISO 8601, epoch, or -1h, an hour ago.",
)
@click.option(
    "--end",
    type=MomentType(ends=True),
    help="Last second of events: ISO 8601, also a whole day, epoch, or -1h.",
)
@click.option(
    "--lookup-table",
    "tables",
    multiple=True,
    metavar="NAME=FILE",
    callback=lookup_tables,
    help="CSV file that lookup and cidrlookup take columns from.",
)
@click.option("--time-field", metavar="NAME", help="JSON field that holds the time of a line.")
@click.option(
    "--time-format",
    metavar="FORMAT",
    help="Form of the times, such as %d.%m.%Y %H:%M:%S; after * they are anywhere in a line.",
)
@click.option(
    "--event-start",
    "begins",
    metavar="REGEX",
    callback=beginning,
    help="Regular expression that the first line of an event contains; other lines belong to the "
    "event before.",
)
@click.option(
    "--sorted",
    "is_sorted",
    is_flag=True,
    help="The lines of each file are in the order of their times: read only the part from --start "
    "to --end.",
)
@click.option("--follow", is_flag=True, help="Show new events as the files grow, until Ctrl-C.")
@click.option(
    "--strict",
    is_flag=True,
    help="Refuse damaged files; with --lint, end with exit code 1 if a query is not checked.",
)
@click.option("--lint", is_flag=True, help="Only check the query, or each query of the PATHs.")
@click.option("--explain", is_flag=True, help="Only show the query's stages and its SQL.")
@format_option
def command(
    query: str,
    paths: tuple[str, ...],
    start: Moment | None,
    end: Moment | None,
    tables: dict[str, Path],
    time_field: str | None,
    time_format: str | None,
    begins: Beginning | None,
    is_sorted: bool,
    follow: bool,
    strict: bool,
    lint: bool,
    explain: bool,
    form: str,
    show: Show = show,
    over_other_logs: Callable[[LogQuery], QueryResult] | None = None,
) -> object:
    """Run the command.

    A command with other options may print rows in other forms, by ``show``, and answer a query
    without a PATH, by ``over_other_logs``.
    """
    if "" in paths:
        raise Refused("PATH: '' is empty; write . for this folder")
    clock = _clock(time_field, time_format)
    if lint and not explain and _lint_all([query, *paths], tables, strict=strict):
        return ENDED
    if query == STANDARD_INPUT and STANDARD_INPUT in paths:
        raise Refused("PATH: '-' is standard input, and so is QUERY; expected '-' once")
    window = _window(start, end)
    if is_sorted:
        _check_sorted(window, begins)
    name, text = query_text(query)
    with _one_sentence(name):
        compiled = compile_query(text)
        if explain or lint:
            _check(compiled, tables, explain=explain, lint=lint)
            tell(recognised(inspected(on_disk(paths), clock)))
            return ENDED
        if follow:
            from cwli.command.following import Following, check_following  # noqa: PLC0415

            others = {"--start": start, "--end": end, "--strict": strict}
            check_following(compiled, paths, form, others)
            Following(compiled, clock, begins, tables, form).run(paths)
        logs = LogQuery(compiled, window, tables, is_sorted)
        if paths:
            result = logs.over_files(paths, clock, begins, strict=strict)
        elif over_other_logs:
            result = over_other_logs(logs)
        else:
            raise Refused("PATH: expected the files or folders to query, or - for standard input")
    _print(result, form, show)
    return ENDED


@contextmanager
def _one_sentence(name: str) -> Iterator[None]:
    """Raise errors of the query of this name, or of its files, as Refused."""
    try:
        yield
    except QueryError as error:
        raise Refused(place_of(name, error)) from None
    except (EventsError, LogFilesError, LookupTableError) as error:
        raise Refused(str(error)) from None


def _lint_all(queries: list[str], tables: dict[str, Path], *, strict: bool) -> bool:
    """Check several queries, or those in one source; return False for a single query.

    Raises
    ------
    Refused
        If a query is not accepted, with the errors of all that are not.
    ClickException
        If one is computed, and ``strict`` accepts none that cannot be checked.
    """
    # The import of PyYAML takes a tenth of the time of a short query.
    from cwli.sources.infrastructure import holds_queries, queries_at  # noqa: PLC0415

    if len(queries) == 1 and not holds_queries(queries[0]):
        return False
    found: list[_Query] = []
    for query in queries:
        if holds_queries(query):
            found += (_Query.within(written) for written in queries_at(Path(query)))
        else:
            found.append(_Query(*query_text(query)))
    unchecked = [each.name for each in found if each.text is None]
    errors = list(_errors(found, tables))
    warn(f"{name}: this query is computed, and not checked" for name in unchecked[:_MOST_UNCHECKED])
    if unchecked:
        warn([f"not checked: {len(unchecked):,} of {plural(len(found), 'query', 'queries')}"])
    if errors:
        raise Refused("\n".join(errors))
    if unchecked and strict:
        raise click.ClickException("--strict accepts no query that is computed, and not checked")
    return True


def _check_sorted(window: Window, begins: Beginning | None) -> None:
    if window == (None, None):
        raise Refused("--sorted needs --start or --end, to read the part of each file between them")
    if begins:
        raise Refused("--sorted is not accepted with --event-start; leave out one of them")


def _clock(field: str | None, form: str | None) -> Clock | None:
    """Return the clock that the user names, None if the lines of each file choose one."""
    if field == "":
        raise Refused("--time-field: '' is not accepted; expected the name of a JSON field")
    if form is None:
        return field_clock(field) if field else None
    try:
        clock = format_clock(form)
    except ValueError as error:
        raise Refused(f"--time-format: {error}") from None
    if field and form[0] in (ANYTHING, " "):
        raise Refused(
            f"--time-format: {form!r} is of whole lines, not of --time-field; begin with a letter"
        )
    return field_clock(field, form) if field else clock


def _window(start: Moment | None, end: Moment | None) -> Window:
    if start and end and start.seconds > end.seconds:
        raise Refused(f"--start: {start.text} is after the end, {end.text}")
    return start.seconds if start else None, end.seconds if end else None


def _print(result: QueryResult, form: str, show: Show) -> None:
    """Print rows, and on standard error their number and warnings."""
    columns = [column for column in result.columns if column != "@ptr"]
    rows = result.records
    show(columns, rows, form)
    if form == "table":
        tell(lines_of_bars(columns, rows))
    counts = result.statistics
    matched, scanned = f"{counts['recordsMatched']:,.0f}", f"{counts['recordsScanned']:,.0f}"
    events = f"{matched} of {scanned} events matched"
    if result.found:
        events = f"{plural(int(counts['recordsMatched']), 'event')} matched"
    read = f"{counts['bytesScanned']:,.0f} bytes read"
    tell([f"{plural(len(rows), 'row')}; {events}, {read}"])
    warn(result.warnings)


def _errors(queries: list[_Query], tables: dict[str, Path]) -> Iterator[str]:
    """Check the queries whose text is known: say which are accepted, and yield other errors."""
    for each in queries:
        if each.text is None:
            continue
        try:
            result = _over_no_events(compile_query(each.text), tables)
        except QueryError as error:
            yield each.place_of(error)
            continue
        click.echo(f"{each.name}: accepted")
        warn(f"{each.name}: {warning}" for warning in result.warnings)


class _Query(NamedTuple):
    """A query to check, with its place if it is within a file; a computed one has no text."""

    name: str
    text: str | None
    written: Written | None = None

    @classmethod
    def within(cls, written: Written) -> _Query:
        return cls(f"{written.file}:{written.lines_before + 1}", written.text, written)

    def place_of(self, error: QueryError) -> str:
        if self.written is None:
            return place_of(self.name, error)
        return place_in_file(self.written.file, self.written.line_of(error.line), error)


def _check(compiled: CompiledQuery, tables: dict[str, Path], *, explain: bool, lint: bool) -> None:
    """Compile a query's SQL; with ``explain`` show it, with ``lint`` say that it is accepted."""
    result = _over_no_events(compiled, tables)
    if explain:
        _explain(compiled)
    if lint:
        click.echo("accepted")
    warn(result.warnings)


def _over_no_events(compiled: CompiledQuery, tables: dict[str, Path]) -> QueryResult:
    # A query with diff needs a time range.
    return run(compiled, EventSource.union([]), 0, 0, tables=tables)


def _explain(compiled: CompiledQuery) -> None:
    sql = compiled.statements
    for number, each in enumerate(compiled.commands, 1):
        click.echo(f"{number}. {each.span.text}")
    if sql.message_values:
        click.echo(f"\nCREATE TEMP VIEW message_values AS\n{sql.message_values.sql};")
    if sql.groups:
        click.echo(f"\nCREATE TEMP TABLE groups AS\n{sql.groups};")
    click.echo(f"\n{sql.result};")
