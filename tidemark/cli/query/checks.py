"""Checks of queries that read no logs: whether they are accepted, and how they run."""

from __future__ import annotations

from pathlib import Path

import click

from local.insights import CompiledQuery, EventSource, QueryError, run
from local.insights import compile as compile_query
from tidemark.cli.query.messages import warn
from tidemark.cli.query.text import place_of, query_text
from tidemark.model.refusal import Refused


def lint_all(queries: list[str], tables: dict[str, Path]) -> None:
    """Check queries; raise Refused with the errors of all that are not accepted."""
    errors = []
    for query in queries:
        name, text = query_text(query)
        try:
            result = run(compile_query(text), EventSource.union([]), tables=tables)
        except QueryError as error:
            errors.append(place_of(name, error))
            continue
        click.echo(f"{name}: accepted")
        warn(f"{name}: {warning}" for warning in result.warnings)
    if errors:
        raise Refused("\n".join(errors))


def check(compiled: CompiledQuery, tables: dict[str, Path], *, explain: bool, lint: bool) -> None:
    """Compile a query's SQL; with ``explain`` show it, with ``lint`` say that it is accepted."""
    result = run(compiled, EventSource.union([]), tables=tables)
    if explain:
        _explain(compiled)
    if lint:
        click.echo("accepted")
    warn(result.warnings)


def _explain(compiled: CompiledQuery) -> None:
    sql = compiled.statements
    for number, stage in enumerate(compiled.stages, 1):
        click.echo(f"{number}. {stage}")
    if sql.parsed:
        click.echo(f"\nCREATE TEMP VIEW parsed AS\n{sql.parsed};")
    if sql.groups:
        click.echo(f"\nCREATE TEMP TABLE groups AS\n{sql.groups};")
    click.echo(f"\n{sql.result};")
