"""``tidemark suite``: the files of systems under test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from tidemark.cli import built_jars, new_suite
from tidemark.cli.chosen_suite import systems, written_suite
from tidemark.cli.query_contract import check_queries
from tidemark.cli.saving import format_option, show
from tidemark.model.checkout import published_suites, written_context, written_suites
from tidemark.model.parameters import count
from tidemark.model.publication import find_publication, publication_file
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, plural, shown, there_are
from tidemark.model.settings import images as images_of
from tidemark.model.settings import read_settings
from tidemark.model.subject import Subject
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import written_queries
from tidemark.model.suite_files import chosen_suites, read_suite, read_suites, suite_files


@click.group("suite")
def command() -> None:
    """Write and check the files of systems under test.

    \b
    Example:
      tidemark suite check suites/rocksdb/suite.yaml
    """


command.add_command(new_suite.command)
command.add_command(built_jars.command)


@command.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
def check(files: tuple[Path, ...]) -> None:
    """Name everything that is wrong with suites and their queries.

    Each FILE is a suite.yaml, or the name of a suite. Without a FILE, all suites and their
    published figures are checked.
    Nothing is run, and no network is used.

    \b
    Example:
      tidemark suite check suites/rocksdb/suite.yaml
    """
    problems = []
    for file in map(_named, files) if files else suite_files(systems()):
        try:
            suite, doubts = _checked(file)
        except Refused as refused:
            problems.append(str(refused))
        else:
            click.echo(f"{file}: accepted, {_size(suite)}")
            for doubt in doubts:
                click.echo(f"warning: {doubt}", err=True)
    for name in published_suites(systems()) if not files else ():
        try:
            published = find_publication(systems(), name)
        except Refused as refused:
            problems.append(str(refused))
        else:
            metrics = plural(len(published.figures) if published else 0, "metric")
            click.echo(f"{publication_file(systems(), name)}: accepted, {metrics}")
    if problems:
        raise Refused("\n".join(problems))


@command.command(name="show")
@click.argument("name")
@click.argument("query", required=False)
def show_queries(name: str, query: str | None) -> None:
    """Show the log queries that Tidemark writes for suite NAME.

    They read the lines that the metrics of the suite give by `log`. With QUERY only the text of
    that query is shown, which `tidemark query` takes.

    \b
    Example:
      tidemark suite show sorted rate
    """
    suite = written_suite(name)
    texts = written_queries(suite)
    if query is None:
        if not texts:
            raise Refused(
                f"NAME: no metric of {name} gives its lines by log; its queries are files"
            )
        for each, text in texts.items():
            click.echo(f"{each}:\n{text}")
    elif query in texts:
        click.echo(texts[query], nl=False)
    else:
        raise Refused(f"QUERY: {shown(query)} is no such query; {there_are(texts, query)}")


@command.command()
@format_option
def images(form: str) -> None:
    """List the image of each program, and what a deployment builds it from.

    The settings of cdk.json choose the suites and name existing images. A deployment also builds
    an image if its files have changed.

    \b
    Example:
      tidemark suite images
    """
    settings = read_settings(written_context())
    suites = chosen_suites(settings, read_suites(settings.systems))
    rows = [
        {
            "program": each.program,
            "image": each.name or "built by Docker",
            "from": f"workloads/{each.dockerfile}" if each.dockerfile else "",
        }
        for each in images_of(suites, settings)
    ]
    show(("program", "image", "from"), rows, form)


def _named(file: Path) -> Path:
    """Return the file of a suite that is given by its name; any other file stays as it is."""
    known = {path.parent.name: path for path in suite_files(systems())}
    return file if file.is_file() else known.get(str(file), file)


def _checked(file: Path) -> tuple[Suite, Sequence[str]]:
    """Return a suite, and the warnings of its queries."""
    if not file.is_file():
        if file.parent == Path():
            sentence = f"is neither a file nor a suite; {there_are(written_suites(), file)}"
        else:
            sentence = "is no file; expected suites/<name>/suite.yaml"
        raise Refused(f"FILE: {str(file)!r} {sentence}")
    suite = read_suite(file.resolve(), file.resolve().parents[2] / "workloads")
    return suite, check_queries(suite, file.resolve().parents[1])


def _size(suite: Suite) -> str:
    metrics = sum(len(test.metrics) for test in suite.tests)
    axes = [plural(count(suite.axes), "combination")] if suite.axes else []
    parts = (plural(len(suite.tests), "test"), plural(metrics, "metric"), *axes)
    return listed([*parts, _versions(suite.subject)])


def _versions(subject: Subject) -> str:
    if not subject.versions:
        return f"any version of the form {shown(subject.form)}"
    return plural(len(subject.versions), "version")
