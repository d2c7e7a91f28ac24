"""The contract of a suite's log queries: the columns of their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cwli.insights import CompiledQuery, EventSource, QueryError, run
from cwli.insights import compile as compile_query
from tidemark.model.load import LEVEL_COLUMNS
from tidemark.model.metric import (
    BEGAN_COLUMNS,
    HISTOGRAM_COLUMNS,
    MORE_SAMPLE_COLUMNS,
    MORE_SERIES_COLUMNS,
    MOST_SAMPLES,
    RATE_COLUMNS,
    SAMPLE_COLUMNS,
    Series,
)
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import query_file, query_text, shared_queries

_OF_ENGINE = "@ptr"


class _Need(NamedTuple):
    """A query of a suite, and what its result must have."""

    query: str
    columns: Sequence[str] | None
    """The columns, None for any."""
    grouped: bool = True
    more: Sequence[str] = ()
    """The columns that the result may have, too."""


def check_queries(suite: Suite, suites: Path) -> Sequence[str]:
    """Refuse a suite if one of its queries cannot give what its metric, series or step needs.

    ``suites`` is the folder of the suite's folder. The refusal has a line for each problem, with
    line and column of the query. Return such a line for each field that no command makes, and
    that JSON in the log lines may have, and a line for each query that the suite does not name.
    """
    problems: dict[str, None] = {}
    doubts: dict[str, None] = {}
    needs = list(_needs(suite))
    # A query of all suites needs no suite that names it.
    named = {need.query for need in needs} | {path.stem for path in shared_queries()}
    for path in sorted((suites / suite.name).glob("*.cwli")):
        if path.stem not in named:
            doubts[f"{suite.name}/{path.name}: suite.yaml names no such query; not checked"] = None
    for need in needs:
        file = query_file(suite.name, need.query, suites)
        query = _compiled(file, query_text(suite, need.query, suites))
        if isinstance(query, str):
            problems[query] = None
            continue
        found = [(*query.choice, sentence, True) for sentence in _misfits(query, need)]
        for line, column, sentence, certain in [*query.plan.undefined, *found]:
            (problems if certain else doubts)[_at(file, line, column, sentence)] = None
    if problems:
        raise Refused("\n".join(problems))
    return list(doubts)


def _needs(suite: Suite) -> Iterator[_Need]:
    for test in suite.tests:
        for metric in test.metrics:
            yield _Need(metric.query, (*RATE_COLUMNS, *metric.labels))
            if metric.samples:
                columns = (*SAMPLE_COLUMNS, *metric.labels)
                yield _Need(metric.samples, columns, grouped=False, more=MORE_SAMPLE_COLUMNS)
            if metric.histograms:
                yield _Need(metric.histograms, (*HISTOGRAM_COLUMNS, *metric.labels), grouped=False)
            if metric.began:
                yield _Need(metric.began, BEGAN_COLUMNS, grouped=False, more=("@timestamp",))
        for series in test.series:
            yield _of_series(series)
    for load in suite.loads:
        yield _Need(load.query, (*LEVEL_COLUMNS, *load.columns))
    for query in suite.conditions:
        yield _Need(query, None)


def _of_series(series: Series) -> _Need:
    if series.of_histograms:
        return _Need(series.query, series.columns, grouped=False)
    return _Need(series.query, series.columns, more=MORE_SERIES_COLUMNS)


def _at(file: Path, line: int, column: int, sentence: str) -> str:
    return f"{file.parent.name}/{file.name}:{line}: column {column}: {sentence}"


def _compiled(file: Path, text: str) -> CompiledQuery | str:
    """Return the query in a text, or the reason why it is none; the file has it, or would."""
    try:
        return _tried(text)
    except QueryError as error:
        return _at(file, error.line, error.column, error.message)


@cache
def _tried(text: str) -> CompiledQuery:
    """Return the query in a text, which many metrics and suites may share."""
    query = compile_query(text)
    # DuckDB finds errors of regular expressions when it runs them, without events, too.
    run(query, EventSource.union([]))
    return query


def _misfits(query: CompiledQuery, need: _Need) -> Iterator[str]:
    """Yield why the result of a query is not what it is needed for."""
    if need.columns is None:
        return
    needed, grouped, expected = need.columns, need.grouped, listed(need.columns)
    if grouped and not query.grouped:
        yield f"the result has a row for each line; expected stats … by @logStream, with {expected}"
    known = {*needed, _OF_ENGINE, *need.more}
    if missing := [column for column in needed if column not in query.columns]:
        yield f"the result has no {listed(missing)}; expected {expected}"
    # A column that is missing mostly has another name.
    elif unknown := [column for column in query.columns if column not in known]:
        also = f" and, if the lines have them, {listed(need.more)}" if need.more else ""
        yield f"the result has {listed(unknown)}, too; expected only {expected}{also}"
    for limit in query.plan.limits:
        if limit <= MOST_SAMPLES:
            more = MOST_SAMPLES + 1
            yield f"limit {limit} may leave values out; expected limit {more} or no limit"
