"""``tidemark suite``: the files of systems under test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from local.insights import QueryError
from local.insights import compile as compile_query
from tidemark.cli.wording import plural
from tidemark.cli.written_suites import systems
from tidemark.figures.rates import RATE_COLUMNS, SAMPLE_COLUMNS
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed
from tidemark.model.suite import Suite
from tidemark.model.suite_files import query_file, read_suite, suite_files


@click.group("suite")
def command() -> None:
    """Check the files of systems under test.

    \b
    Example:
      tidemark suite check suites/rocksdb/suite.yaml
    """


@command.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
def check(files: tuple[Path, ...]) -> None:
    """Name everything that is wrong with suites and their queries.

    Each FILE is a suite.yaml. Without a FILE, all suites are checked. Nothing is run, and no
    network is used.

    \b
    Example:
      tidemark suite check suites/rocksdb/suite.yaml
    """
    problems = []
    for file in files or suite_files(systems()):
        try:
            suite = _checked(file)
        except Refused as refused:
            problems.append(str(refused))
        else:
            click.echo(f"{file}: accepted, {_size(suite)}")
    if problems:
        raise Refused("\n".join(problems))


def _checked(file: Path) -> Suite:
    if not file.is_file():
        raise Refused(f"FILE: {str(file)!r} is no file; expected suites/<name>/suite.yaml")
    suite = read_suite(file.resolve(), file.resolve().parents[2] / "workloads")
    if problems := list(_query_problems(suite, file.resolve().parents[1])):
        raise Refused("\n".join(problems))
    return suite


def _size(suite: Suite) -> str:
    metrics = sum(len(test.metrics) for test in suite.tests)
    parts = (plural(len(suite.tests), "test"), plural(metrics, "metric"))
    return listed([*parts, plural(len(suite.subject.versions), "version")])


def _query_problems(suite: Suite, suites: Path) -> Iterator[str]:
    """Yield a line for each query that is not accepted or lacks a column."""
    needed: dict[Path, Sequence[str]] = {}
    for metric in (metric for test in suite.tests for metric in test.metrics):
        needed[query_file(suite.name, metric.query, suites)] = RATE_COLUMNS
        needed[query_file(suite.name, metric.samples, suites)] = SAMPLE_COLUMNS
    for file, columns in needed.items():
        yield from _problems_of_query(file, columns)


def _problems_of_query(file: Path, columns: Sequence[str]) -> Iterator[str]:
    name = f"{file.parent.name}/{file.name}"
    try:
        query = compile_query(file.read_text(encoding="utf-8"))
    except QueryError as error:
        yield f"{name}:{error.line}: column {error.column}: {error.message}"
        return
    if missing := [column for column in columns if column not in query.columns]:
        yield (
            f"{name}:{query.columns_line}: the result has no {listed(missing)}; "
            f"expected {listed(columns)}"
        )
