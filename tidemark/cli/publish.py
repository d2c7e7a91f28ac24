"""``tidemark publish``: a document of an author, with its fields filled from stored results."""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path

import click

from tidemark.cli.chosen_suite import known_suite
from tidemark.cli.comment import written
from tidemark.cli.history import published_rows
from tidemark.cli.profile.function_shares import published_shares, versions_page
from tidemark.cli.profile.options import profiles_by_version
from tidemark.cli.saving import save
from tidemark.cli.set_option import split
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.deployed import Stored
from tidemark.figures.profiles.call_tree import Place
from tidemark.model.refusal import Refused
from tidemark.model.run_id import is_run_id
from tidemark.model.sentences import listed, shown, there_are
from tidemark.report.blocks import Chart, Link, Report, Row, Said, Table
from tidemark.report.comments import (
    Filler,
    Maker,
    Subject,
    comments_on,
    figures_of_run,
    figures_of_sides,
    parsed,
)
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.publishing import read_sides
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import with_pictures
from tidemark.report.page import page
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.store.run_objects import each_profiled, read_comments
from tidemark.store.stored_run import read_run

_TEMPLATES = Path(__file__).parent / "templates"
_AGAINST = re.compile(r"(\S+) against (\S+)")
_FUNCTIONS = re.compile(r"(?P<test>[^:\s]+): (?P<names>.+?)(?: under (?P<under>.+))?")
_SUITE = "suite"
_GRAPHS = "graphs"
_LONGEST_LINE = 84
"""The characters of a line of a picture's title."""
_LONGEST_NAME = 60


@click.command(name="publish")
@click.argument(
    "document", metavar="[DOC.md]", required=False, type=click.Path(path_type=Path, dir_okay=False)
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER|FILE.html",
    help="Folder for Markdown and its pictures, or a page.",
)
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="NAME=WHAT",
    help="What a name of the document stands for, in place of its own line; may be repeated.",
)
@click.option(
    "--pictures-at",
    "address",
    metavar="ADDRESS",
    default="",
    help="Address of the written folder, for Markdown that is posted elsewhere.",
)
@click.option(
    "--template",
    type=click.Choice(sorted(file.stem for file in _TEMPLATES.glob("*.md"))),
    help="Print a document to begin with, and publish nothing.",
)
@target_options
def command(
    document: Path | None,
    output: Path | None,
    given: Sequence[str],
    address: str,
    template: str | None,
    target: Target,
) -> None:
    """Fill the fields of DOC.md from stored results; write Markdown with pictures, or a page.

    The document is Markdown. Its first lines, between two lines of ---, say what its names stand
    for: a suite, a run, or NEW against BASE. A field such as {{verdicts rc3}} on a line of its own
    becomes a table, charts, the set-up or the comments of what its name stands for; one within a
    line, {{change rc3: ingest_rate of 9.8.4}}, becomes a figure.

    \b
    Example:
      tidemark publish --template comparison > release.md
      tidemark publish release.md --output published --set new="9.8.4 against 9.0.0"
    """
    if template:
        click.echo((_TEMPLATES / f"{template}.md").read_text(encoding="utf-8"), nl=False)
        return
    if document is None or output is None:
        raise Refused("DOC.md and --output: one is missing; --template prints a document")
    if not document.is_file():
        raise Refused(f"DOC.md: there is no file {document}")
    names, text = parsed(document.read_text(encoding="utf-8"))
    for name in split(given):
        if name not in names:
            raise Refused(f"--set: the document has no name {name!r}; {there_are(names, name)}")
    with stored(target) as store:
        sources = _Sources(store, {**names, **split(given)}, target)
        makers: Mapping[str, Maker] = {
            "history": sources.history,
            "functions": sources.functions,
            "flames": sources.flames,
        }
        prose = partial(_prose, document.parent)
        filled = Filler(sources.subject, makers).report(text, prose)
    if output.suffix == ".html":
        title = filled.title.replace("`", "") or document.stem
        contents = {output: page(filled._replace(title=title)).encode()}
        folder = output.parent
    else:
        contents, folder = _files(filled, output, document.stem, address), output
    contents |= {folder / name: content for name, content in sources.files.items()}
    for path, content in contents.items():
        save(path, content)
        click.echo(path)


def _prose(folder: Path, text: str, whole: str) -> Said:
    """Return a text of the author, a part of a whole document in a folder."""
    own = written(text, folder, whole=whole)
    return Said("", "", "", own.text, own.html, own.images)


def _files(filled: Report, folder: Path, name: str, address: str) -> dict[Path, bytes]:
    """Return the files of a document as Markdown: its text, its pictures and its own images."""
    place = f"{address.rstrip('/')}/" if address else ""
    pictures: dict[str, bytes] = {}

    def draw(chart: Chart) -> str:
        file = _file_name(chart, pictures)
        pictures[file] = _drawn(chart)
        return f"{place}{file}"

    text = with_pictures(filled, draw)
    own = [block.images for block in filled.summary if isinstance(block, Said)]
    for image, content in chain.from_iterable(images.items() for images in own):
        pictures[image] = base64.b64decode(content)
        text = text.replace(f"({image}", f"({place}{image}")
    files = {**pictures, f"{name}.md": text.encode()}
    return {folder / file: content for file, content in files.items()}


def _file_name(chart: Chart, taken: Container[str]) -> str:
    """Return the name of a chart's file, from the first sentence of its caption."""
    first, _, _ = chart.caption.casefold().partition(". ")
    words = re.sub(r"[^a-z0-9]+", "-", first).strip("-")[:_LONGEST_NAME].strip("-")
    numbered = (f"{_GRAPHS}/{words}-{number}.png" for number in count(2))
    names = chain([f"{_GRAPHS}/{words}.png"], numbered)
    return next(name for name in names if name not in taken)


def _drawn(chart: Chart) -> bytes:
    # The import takes time, which a page does not need.
    from tidemark.pages.pictures import picture  # noqa: PLC0415

    title = textwrap.wrap(chart.caption.removesuffix("."), _LONGEST_LINE)
    legend = [(mark.color, f"{mark.symbol} {mark.words}") for mark in chart.legend]
    return picture([dict(chart.spec)], title, ".png", legend, scale=1)


class _Sources:
    """What the fields of a document are filled with."""

    def __init__(self, store: Stored, names: Mapping[str, str], target: Target) -> None:
        self._store, self._names, self._target = store, names, target
        self._known: dict[str, Subject] = {}
        self.files: dict[str, bytes] = {}
        """The pages beside the document, by name."""

    def subject(self, name: str) -> Subject:
        """Return the run or the comparison that a name stands for; '' is the only one."""
        what = self._names.get(name or self._only())
        if what is None:
            raise Refused(f"DOC.md: nothing is named {name!r}; {there_are(self._names, name)}")
        if what not in self._known:
            self._known[what] = self._read(what)
        return self._known[what]

    def _only(self) -> str:
        named = [name for name in self._names if name != _SUITE]
        if len(named) != 1:
            wanted = listed(named) or "none"
            raise Refused(f"DOC.md: a field without a name; the document has the names {wanted}")
        return named[0]

    def _read(self, what: str) -> Subject:
        bucket = self._store.bucket
        if is_run_id(what):
            plan = self._target.plan(bucket, what, "DOC.md")
            run = replace(
                measured_run(read_run(bucket, plan)),
                comments=read_comments(bucket, what),
                profiled=list(each_profiled(bucket, plan)),
            )
            return Subject(report(run), figures_of_run(run))
        both = _AGAINST.fullmatch(what)
        if both is None:
            raise Refused(f"DOC.md: {shown(what)} names nothing; expected RUN or NEW against BASE")
        base, new = read_sides(bucket, self._suite(), both[2], both[1])
        compared = sides(base, new)
        said = comments_on(read_comments(bucket, new[0].plan.run_id), compared)
        return Subject(comparison(compared, (), said), figures_of_sides(compared))

    def _suite(self) -> str:
        if _SUITE not in self._names:
            raise Refused("DOC.md: it names no suite; expected a line such as suite: rocksdb")
        return known_suite(self._names[_SUITE], self._store.tables)

    def history(self, wanted: str) -> Iterator[Table]:
        """Yield the table of figures by version, such as ``compaction_rate, ingest_rate``."""
        suite = self._suite()
        columns, rows = published_rows(self._store.tables, suite, _separated(wanted))
        yield _table(f"{suite} by version", columns, rows)

    def functions(self, wanted: str) -> Iterator[Table]:
        """Yield the shares of functions by version, such as ``q100: A, B / C under D``."""
        found = _FUNCTIONS.fullmatch(wanted)
        if found is None:
            raise Refused(
                f"DOC.md: {shown(wanted)} is not accepted; expected TEST: NAME, NAME under NAME"
            )
        place = Place([found["under"]] if found["under"] else ())
        names = _separated(found["names"])
        rows = published_shares(self._store.bucket, self._suite(), found["test"], names, place)
        yield _table(f"Share of all samples in {found['test']} [%]", ["Version", *names], rows)

    def flames(self, test: str) -> Iterator[Link]:
        """Yield a link to the page of the flame graphs of a test, of all versions."""
        suite, bucket = self._suite(), self._store.bucket
        if not re.fullmatch(r"[\w.+-]+", test):
            raise Refused(f"DOC.md: {shown(test)} is not a test; expected one such as l.i1")
        found = profiles_by_version(bucket, suite, test)
        self.files[f"flames-{test}.html"] = versions_page(bucket, suite, found).encode()
        yield Link(f"Flame graphs of {test}", f"flames-{test}.html")


def _separated(names: str) -> list[str]:
    """Return names between commas; labels in braces may have commas, too."""
    return [each.strip() for each in re.split(r",(?![^{]*\})", names)]


def _table(caption: str, columns: Sequence[str], rows: Sequence[Mapping[str, str | None]]) -> Table:
    cells = (tuple(row.get(column) or "" for column in columns) for row in rows)
    return Table(caption, tuple(columns), tuple(map(Row, cells)), frozenset(columns[1:]))
