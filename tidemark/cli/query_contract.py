"""The contract of a suite's log queries: the columns of their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from local.insights import CompiledQuery, EventSource, QueryError, run
from local.insights import compile as compile_query
from tidemark.model.metric import (
    MORE_SAMPLE_COLUMNS,
    MOST_SAMPLES,
    RATE_COLUMNS,
    SAMPLE_COLUMNS,
    Metric,
)
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed
from tidemark.model.series import SERIES_COLUMNS
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import query_file

_OF_ENGINE = "@ptr"


def check_queries(suite: Suite, suites: Path) -> None:
    """Refuse a suite if one of its queries cannot give what its metric, series or step needs.

    ``suites`` is the folder of the suite's folder. The refusal has a line for each problem, with
    line and column of the query.
    """
    problems: list[str] = []
    for test in suite.tests:
        for metric in test.metrics:
            problems += _problems(metric, suite.name, suites)
        for series in test.series:
            file = query_file(suite.name, series.query, suites)
            problems += _of_file(file, SERIES_COLUMNS, grouped=True)
    for query in suite.conditions:
        if isinstance(fault := _compiled(query_file(suite.name, query, suites)), str):
            problems.append(fault)
    if found := list(dict.fromkeys(problems)):
        raise Refused("\n".join(found))


def _problems(metric: Metric, suite: str, suites: Path) -> Iterator[str]:
    answered = (*RATE_COLUMNS, *metric.labels)
    yield from _of_file(query_file(suite, metric.query, suites), answered, grouped=True)
    if metric.samples:
        logged = (*SAMPLE_COLUMNS, *metric.labels)
        yield from _of_file(query_file(suite, metric.samples, suites), logged, grouped=False)


def _of_file(file: Path, needed: Sequence[str], *, grouped: bool) -> Iterator[str]:
    query = _compiled(file)
    if isinstance(query, str):
        yield query
        return
    line, column = query.choice
    for sentence in _misfits(query, needed, grouped=grouped):
        yield f"{_name(file)}:{line}: column {column}: {sentence}"


def _compiled(file: Path) -> CompiledQuery | str:
    """Return the query of a file, or the reason why it is none."""
    try:
        query = compile_query(file.read_text(encoding="utf-8"))
        # DuckDB finds errors of regular expressions when it runs them, without events, too.
        run(query, EventSource.union([]))
    except QueryError as error:
        return f"{_name(file)}:{error.line}: column {error.column}: {error.message}"
    return query


def _name(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


def _misfits(query: CompiledQuery, needed: Sequence[str], *, grouped: bool) -> Iterator[str]:
    """Yield why the result of a query is not that of a metric or of its samples."""
    expected = listed(needed)
    if grouped and not query.grouped:
        yield f"the result has a row for each line; expected stats … by @logStream, with {expected}"
    known = {*needed, _OF_ENGINE, *(() if grouped else MORE_SAMPLE_COLUMNS)}
    if missing := [column for column in needed if column not in query.columns]:
        yield f"the result has no {listed(missing)}; expected {expected}"
    # A column that is missing mostly has another name.
    elif unknown := [column for column in query.columns if column not in known]:
        also = "" if grouped else f" and, if the lines have them, {listed(MORE_SAMPLE_COLUMNS)}"
        yield f"the result has {listed(unknown)}, too; expected only {expected}{also}"
    for limit in (stage for stage in query.stages if stage.startswith("limit ")):
        if limit.removeprefix("limit ").isdigit() and int(limit.split()[1]) <= MOST_SAMPLES:
            yield f"{limit} may leave values out; expected limit {MOST_SAMPLES + 1} or no limit"
