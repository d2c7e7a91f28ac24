"""``tidemark suite``: the files of systems under test."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from tidemark.cli import builds
from tidemark.cli.chosen_suite import systems, written_suite
from tidemark.cli.query_contract import check_queries
from tidemark.cli.saving import format_option, show
from tidemark.model.base import NAME
from tidemark.model.checkout import (
    published_suites,
    systems_to_write,
    written_context,
    written_suites,
)
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
from tidemark.model.task import HARNESS

_EXAMPLE = Path(__file__).with_name("example")
_COMMAND = "python measure.py"
_WORK = 'raise NotImplementedError("FILE lacks the work of PACKAGE")'


class _Template(NamedTuple):
    """The package that the suite of a template measures until its user names another one."""

    package: str
    versions: str
    work: str
    """The work of the package, in Python."""


_SORTED = ("sortedcontainers", "2.2.2,2.4.0")
_TEMPLATES = {
    "throughput": _Template(*_SORTED, "sortedcontainers.SortedList().update(values)"),
    "latency": _Template(*_SORTED, "sortedcontainers.SortedList(range(9_999)).remove(number)"),
    "server": _Template("waitress", "2.1.2,3.0.2", "waitress.serve(answer, host=host, port=port)"),
    "command": _Template(*_SORTED, "sortedcontainers.SortedList(values)"),
}


@click.group("suite")
def command() -> None:
    """Write and check the files of systems under test.

    \b
    Example:
      tidemark suite check suites/rocksdb/suite.yaml
    """


command.add_command(builds.prepare)


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
        raise Refused(f"QUERY: {shown(query)} is not a query; {there_are(texts, query)}")


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
            sentence = "is not a file; expected suites/<name>/suite.yaml"
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


@command.command()
@click.argument("name")
@click.option(
    "--template",
    type=click.Choice(list(_TEMPLATES)),
    default="throughput",
    help="throughput: a rate. latency: times of requests. server: the same, of a server beside the "
    "test. command: the time of a command. If not given, throughput.",
)
@click.option("--package", help="PyPI package of the system; '' if a script of yours installs it.")
@click.option("--versions", help="Versions of the system, the oldest first.", metavar="A,B,…")
@click.option(
    "--command",
    "line",
    help="Line of shell that a test runs, such as a benchmark that you have already.",
)
def new(
    name: str, template: str, package: str | None, versions: str | None, line: str | None
) -> None:
    """Write a suite that runs, with the program of its test.

    On a terminal the command asks for the package, the versions and the line of shell that are not
    given; the answers in brackets make an example that runs as it is. The files are written below
    the folder of systems, which is this repository or the folder in TIDEMARK_SYSTEMS. A Tidemark
    that pip installed writes them below the folder of work.

    \b
    Example:
      tidemark suite new duckdb --package duckdb --versions 1.3.2,1.4.1
    """
    systems, example = systems_to_write(), _TEMPLATES[template]
    _check_name(name, systems)
    package = _answer(package, "PyPI package ('' if a script installs it)", example.package)
    is_example = package == example.package
    known = example.versions if is_example else None
    versions = _answer(versions, "Versions, the oldest first", known)
    if not versions:
        raise Refused("--versions: expected the versions to measure, such as 1.3.2,1.4.1")
    line = _answer(line, "Line of shell that the test runs", _COMMAND)
    work, system = example.work if is_example else _WORK, package or "the system"
    words = {
        "SUBJECT": f"package: {package}" if package else "prepare: [sh, prepare.sh]",
        "VERSIONS": ", ".join(json.dumps(each.strip()) for each in versions.split(",")),
        "COMMAND": line if line == _COMMAND else json.dumps(line),
        "IMPORT": f"import {package}" if is_example else f"# Import {system} here.",
        "PACKAGE": system,
        "NAME": name,
    }
    files = {f"suites/{name}/suite.yaml": f"{template}.yaml"}
    program = f"workloads/{name}"
    if template == "server":
        files[f"{program}/server.py"] = "served.txt"
    if line == _COMMAND:
        files[f"{program}/measure.py"] = f"{template}.txt"
    if not package:
        files[f"{program}/prepare.sh"] = "prepare.txt"
    if len(files) == 1:
        files[f"{program}/README.md"] = "command.md"
    texts = {}
    for file, source in files.items():
        own = {**words, "FILE": file}
        own["WORK"] = textwrap.indent(_filled(work, own), "    ")
        texts[file] = _filled((_EXAMPLE / source).read_text(encoding="utf-8"), own)
    _write(systems, name, texts)
    for file in files:
        click.echo(systems / file)
    click.echo(f"Next: `tidemark suite check {name}`, then `tidemark run {name}`", err=True)


def _check_name(name: str, systems: Path) -> None:
    if not re.fullmatch(NAME, name):
        expected = "a small letter, and up to 31 small letters, digits and _ after it"
        raise Refused(f"NAME: {shown(name)} is not accepted; expected {expected}")
    if name == HARNESS.name:
        raise Refused(f"NAME: {shown(name)} is the name of Tidemark's harness; choose another")
    for folder in (systems / part / name for part in ("suites", "workloads")):
        if folder.exists():
            raise Refused(f"NAME: {shown(name)} is taken; there is {folder}")


def _answer(given: str | None, question: str, otherwise: str | None) -> str | None:
    """Return what an option gives, or the answer of a user at a terminal, or the default."""
    if given is not None:
        return given
    if is_terminal():
        answer = str(click.prompt(question, default=otherwise))
        return "" if answer == "''" else answer
    return otherwise


def is_terminal() -> bool:
    """Tell whether a user can answer questions."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _filled(text: str, words: Mapping[str, str]) -> str:
    """Return a text with its words replaced, at once: a user's line may have such a word, too."""
    return re.sub("|".join(words), lambda word: words[word[0]], text)


def _write(systems: Path, name: str, texts: Mapping[str, str]) -> None:
    """Write the files of a suite that is accepted; a refused one leaves nothing."""
    systems.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=systems, prefix=".new-") as made:
        for file, text in texts.items():
            path = Path(made, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        read_suite(Path(made, "suites", name, "suite.yaml"), Path(made, "workloads"))
        moved = []
        try:
            for folder in (systems / "workloads", systems / "suites"):
                folder.mkdir(exist_ok=True)
                moved.append(Path(made, folder.name, name).rename(folder / name))
        except OSError as error:
            for half in moved:  # which would take the name of the suite
                shutil.rmtree(half)
            raise Refused(f"NAME: the suite cannot be written: {error}") from None
