"""A document that an author wrote, with its fields filled from reports.

A field that stands alone on its line is a part of a report, ``{{table rc3: Supported users}}``; one
within a line is a figure, ``{{change rc3: ingest_rate of 9.8.4}}``. All other text stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from tidemark.model.comment import FIELD, WHAT, plain_field
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shown, there_are
from tidemark.report.blocks import Block, Chart, Details, Report, Said, Section, Table
from tidemark.report.comments import HEADING, Figures, told

_FRONT = re.compile(r"\A---\n(.*?)^---\n+", re.DOTALL | re.MULTILINE)
_NAMING = re.compile(r"([a-z][a-z0-9_]*):[ \t]*(\S.*)")
_ALONE = re.compile(rf"^[ \t]*{FIELD.pattern}[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"(?P<kind>[a-z]+)(?: (?P<subject>[a-z][a-z0-9_]*))?(?:: (?P<wanted>.+))?")
_TITLE = re.compile(r"\A\s*# +(.+?)\s*$\n*", re.MULTILINE)
_SETUP = ("Setup", "Other settings", "Set-up")

_Found = TypeVar("_Found")


class Subject(NamedTuple):
    """A run or a comparison that a document is about."""

    report: Report
    """The report with the drawings of its charts."""
    figures: Figures


class Document(NamedTuple):
    """A document without its names: what each is, and the text."""

    names: Mapping[str, str]
    """What names stand for: a run, ``NEW against BASE``, or the ``suite``."""
    text: str


def parsed(text: str) -> Document:
    """Return a document whose first lines, between ``---``, say what its names stand for.

    Raises
    ------
    Refused
        If one of these lines has another form.

    """
    found = _FRONT.match(text)
    if found is None:
        return Document({}, text)
    names = {}
    for line in filter(None, map(str.strip, found[1].splitlines())):
        naming = _NAMING.fullmatch(line)
        if naming is None:
            raise Refused(f"DOC: {shown(line)} is not accepted; expected NAME: RUN")
        names[naming[1]] = naming[2].strip()
    return Document(names, text[found.end() :])


Maker = Callable[[str], Iterable[Block]]
"""A function that makes blocks from the text behind the colon of a field."""
Prose = Callable[[str, str], Said]
"""A function that makes a block of a text between fields, from it and the text of the document."""


class Filler(NamedTuple):
    """The parts and figures that fields are filled with."""

    subject: Callable[[str], Subject]
    """Return the subject of a name, '' in a field without one."""
    makers: Mapping[str, Maker]
    """The makers of fields about a whole suite, by kind."""

    def report(self, text: str, prose: Prose) -> Report:
        """Return a filled document as a report.

        Raises
        ------
        Refused
            If a field has another form, or what it names does not exist.

        """
        title = _TITLE.search(text)
        body = text[title.end() :] if title else text
        blocks = tuple(self._blocks(body, prose))
        return Report(title[1] if title else "", blocks, ())

    def _blocks(self, text: str, prose: Prose) -> Iterator[Block]:
        place, whole = 0, _ALONE.sub("", text)
        for found in _ALONE.finditer(text):
            yield from self._prose(text[place : found.start()], prose, whole)
            yield from self._part(_field(found[1]))
            place = found.end()
        yield from self._prose(text[place:], prose, whole)

    def _prose(self, text: str, prose: Prose, whole: str) -> Iterator[Block]:
        filled = FIELD.sub(lambda found: self._figure(_field(found[1])), text).strip()
        if filled:
            yield prose(filled, whole)

    def _figure(self, field: _Field) -> str:
        if field.kind not in WHAT:
            raise Refused(
                f"the field {field.kind!r} stands within a line; expected it on a line of its own, "
                f"or {listed(WHAT)}"
            )
        figures = self.subject(field.subject).figures
        return told(figures, field.needed).words(field.kind)

    def _part(self, field: _Field) -> Iterable[Block]:
        if field.kind in WHAT:
            return [self._figure(field)]
        if field.kind in self.makers:
            return self.makers[field.kind](field.needed)
        if field.kind in _WHOLE:
            return _WHOLE[field.kind](self.subject(field.subject).report)
        if field.kind in _NAMED:
            return _NAMED[field.kind](self.subject(field.subject).report, field.needed)
        known = [*_WHOLE, *_NAMED, *self.makers, *WHAT]
        raise Refused(f"there is no field {field.kind!r}; {there_are(known, field.kind)}")


class _Field(NamedTuple):
    kind: str
    subject: str
    wanted: str

    @property
    def needed(self) -> str:
        """The text behind the colon; refuse a field without one."""
        if not self.wanted:
            raise Refused(f"the field {self.kind!r} needs a text, as in {{{{{self.kind}: …}}}}")
        return self.wanted


def _field(text: str) -> _Field:
    found = _FIELD.fullmatch(plain_field(text))
    if found is None:
        raise Refused(f"{shown(text)} is no field; expected {{{{KIND NAME: TEXT}}}}")
    return _Field(found["kind"], found["subject"] or "", found["wanted"] or "")


def _flat(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Details):
            yield from _flat(block.blocks)
        else:
            yield block


def _all(report: Report) -> Iterator[Block]:
    yield from _flat(report.summary)
    for section in report.sections:
        yield from _flat(section.blocks)


def _sections(report: Report, *headings: str) -> Iterator[Block]:
    for section in report.sections:
        if section.heading in headings:
            yield from _flat(section.blocks)


def _tables(blocks: Iterable[Block]) -> dict[str, Table]:
    found = [each.table if isinstance(each, Chart) else each for each in blocks]
    return {each.caption: each for each in found if isinstance(each, Table)}


def _charts(blocks: Iterable[Block]) -> dict[str, Chart]:
    """Return charts by the first sentence of their caption, or that of a table beside the chart."""
    return {
        (each.table.caption if each.with_table else each.caption).partition(". ")[0]: each
        for each in blocks
        if isinstance(each, Chart)
    }


def _verdicts(report: Report) -> Sequence[Block]:
    return list(_tables(_sections(report, "Results")).values())[:1]


def _section(report: Report, wanted: str) -> Section:
    return _named({each.heading: each for each in report.sections}, wanted, "section")


_WHOLE: Mapping[str, Callable[[Report], Iterable[Block]]] = {
    "answer": lambda report: report.summary,
    "verdicts": _verdicts,
    "setup": lambda report: _tables(_sections(report, *_SETUP)).values(),
    "comments": lambda report: _sections(report, HEADING),
}
"""The parts that a report has once."""
_NAMED: Mapping[str, Callable[[Report, str], Iterable[Block]]] = {
    "section": lambda report, wanted: _section(report, wanted).blocks,
    "table": lambda report, wanted: [_named(_tables(_all(report)), wanted, "table")],
    "chart": lambda report, wanted: [_named(_charts(_all(report)), wanted, "chart")],
    "charts": lambda report, wanted: _charts(_flat(_section(report, wanted).blocks)).values(),
}
"""The parts of a report that a field names."""


def _named(things: Mapping[str, _Found], wanted: str, what: str) -> _Found:
    """Return the thing of a name, or the only one whose name begins with it or has it."""
    text = wanted.casefold()
    names = {name: name.casefold() for name in things}
    for fitting in (
        [name for name, own in names.items() if own == text],
        [name for name, own in names.items() if own.startswith(text)],
        [name for name, own in names.items() if text in own],
    ):
        if len(fitting) == 1:
            return things[fitting[0]]
        if fitting:
            raise Refused(f"several {what}s are named {wanted!r}: {listed(fitting)}")
    raise Refused(f"there is no {what} {wanted!r}; {there_are(things, wanted)}")
