"""Checks of queries that read no logs: whether they are accepted, and how they run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from cwli.command.arguments import place_in_file, place_of, query_text
from cwli.formats import plural
from cwli.insights import CompiledQuery, EventSource, QueryError, QueryResult, run
from cwli.insights import compile as compile_query
from cwli.program import Refused, warn
from cwli.sources.infrastructure import holds_queries, queries_at
from cwli.sources.written import Written

_MOST_NAMED = 20


def lint_all(queries: list[str], tables: dict[str, Path], *, strict: bool) -> None:
    """Check queries, also those in sources of infrastructure and below folders.

    Raises
    ------
    Refused
        If a query is not accepted, with the errors of all that are not.
    ClickException
        If one is computed, and ``strict`` accepts none that cannot be checked.
    """
    found = [each for query in queries for each in _queries(query)]
    unchecked = [each.name for each in found if each.text is None]
    errors = list(_errors(found, tables))
    warn(f"{name}: this query is computed, and not checked" for name in unchecked[:_MOST_NAMED])
    if unchecked:
        warn([f"not checked: {len(unchecked):,} of {plural(len(found), 'query', 'queries')}"])
    if errors:
        raise Refused("\n".join(errors))
    if unchecked and strict:
        raise click.ClickException("--strict accepts no query that is computed, and not checked")


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


@dataclass(frozen=True)
class _Query:
    """A query to check, with its place if it is within a file; a computed one has no text."""

    name: str
    text: str | None
    written: Written | None = None

    def place_of(self, error: QueryError) -> str:
        if self.written is None:
            return place_of(self.name, error)
        return place_in_file(self.written.file, self.written.line_of(error.line), error)


def _queries(query: str) -> Iterator[_Query]:
    if not holds_queries(query):
        yield _Query(*query_text(query))
        return
    for written in queries_at(Path(query)):
        yield _Query(f"{written.file}:{written.lines_before + 1}", written.text, written)


def check(compiled: CompiledQuery, tables: dict[str, Path], *, explain: bool, lint: bool) -> None:
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
    if sql.parsed:
        click.echo(f"\nCREATE TEMP VIEW parsed AS\n{sql.parsed.sql};")
    if sql.groups:
        click.echo(f"\nCREATE TEMP TABLE groups AS\n{sql.groups};")
    click.echo(f"\n{sql.result};")
