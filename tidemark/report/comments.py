"""Texts of people that have figures of reports: comments, and documents with fields.

The quoted figures of a comment that no longer hold are marked. A field of a document that stands
alone on its line is a part of a report, ``{{table rc3: Supported users}}``; one within a line is a
figure, ``{{change rc3: ingest_rate of 9.8.4}}``. All other text stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import escape, unescape
from typing import NamedTuple, TypeVar

from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.figures.version_rates import VersionRate
from tidemark.model.comment import FIELD, WHAT, Comment, Quote, plain_field, quote
from tidemark.model.numerals import MISSING, change, percent_places, supported
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, plural, shown, there_are
from tidemark.report.blocks import Block, Chart, Details, Report, Said, Section, Table
from tidemark.report.comparison.sides import Sides
from tidemark.report.run_report.measured import MeasuredRun

_HEADING = "Comments by people"


class Known(NamedTuple):
    """A figure of a version, with the verdict on its change from the version's base."""

    rate: VersionRate
    verdict: Verdict | None

    def value(self, what: str) -> float | str | None:
        """Return what a field tells: a mean, a change, or the word of a verdict."""
        if what == "mean":
            return self.rate.value
        judged = self.verdict and self.verdict.judgement
        if judged is None:
            return None
        return judged.effect if what == "change" else judged.word

    def words(self, what: str) -> str:
        """Return what a field tells as people read it."""
        rate, found = self.rate, self.value(what)
        if found is None or isinstance(found, str):
            return found or MISSING
        if what == "mean":
            return f"{rate.value_text or supported(found, rate.spread)[0]} {rate.unit}"
        judged = self.verdict and self.verdict.judgement
        places = percent_places(judged.low, judged.high) if judged else 2
        return change(found, rate, places)


Figures = Mapping[str, Known]
"""Figures by their subject, such as ``ingest_rate of 9.8.4``."""


def figures_of_run(run: MeasuredRun) -> Figures:
    """Return the figures of each version of a run, and the verdicts against their bases."""
    return {
        f"{quantity.name} of {rate.version}": Known(rate, run.against_base(quantity, rate))
        for quantity in run.quantities
        for rate in run.rates_of(quantity)
    }


def figures_of_sides(sides: Sides) -> Figures:
    """Return the figures of both sides of a comparison; the new side has the verdicts."""
    return {
        f"{pair.name} of {side.name}": Known(
            reading.rate, pair.verdict if side is sides.new else None
        )
        for pair in sides.pairs
        for reading, side in sides.readings(pair)
        if reading
    }


def _told(figures: Figures, subject: str) -> Known:
    """Return the figure of a subject; refuse one that no version has."""
    found = figures.get(subject)
    if found is None:
        raise Refused(f"there is no figure {subject!r}; {there_are(figures, subject)}")
    return found


def check_quotes(comment: Comment, figures: Figures) -> None:
    """Refuse a quoted figure that is unknown or does not hold; name what is stored."""
    for each in comment.quotes:
        _told(figures, each.subject)
    for sentence in outdated_quotes(comment, figures).values():
        raise Refused(f"FILE: {sentence}")


def sections_of_run(run: MeasuredRun) -> Iterator[Section]:
    """Yield the section of the comments on a run, if there are any."""
    if own := [each for each in run.comments if each.base is None]:
        figures = figures_of_run(run)
        yield Section(_HEADING, tuple(_said(each, figures) for each in own))


def sections_of_sides(comments: Sequence[Comment], sides: Sides) -> Iterator[Section]:
    """Yield the section of the comments on a comparison, if there are any."""
    if comments:
        blocks = tuple(_said(each, figures) for each, figures in with_figures(comments, sides))
        yield Section(_HEADING, blocks)


def comments_on(comments: Iterable[Comment], sides: Sides) -> list[Comment]:
    """Return the comments on a comparison, and those on the run if it measured both sides."""
    base = sides.base.run.plan.run_id, sides.base.version
    return [
        each
        for each in comments
        if each.is_of(base, sides.new.version) or (each.base is None and sides.in_one_run)
    ]


def with_figures(comments: Sequence[Comment], sides: Sides) -> list[tuple[Comment, Figures]]:
    """Return each comment on a comparison with the figures that it may quote."""
    if not comments:
        return []
    of_run, of_both = figures_of_run(sides.whole), figures_of_sides(sides)
    return [(each, of_both if each.base else of_run) for each in comments]


def _said(comment: Comment, figures: Figures) -> Said:
    """Return a comment with its quoted figures, those that no longer hold struck out."""
    outdated = outdated_quotes(comment, figures)
    warning = ""
    if outdated:
        quoted = plural(len(comment.quotes), "figure")
        warning = f"No longer true: {len(outdated)} of {quoted} that this comment quotes."
    return Said(
        title=comment.title,
        author=comment.author,
        day=f"{comment.day:%Y-%m-%d}",
        text=FIELD.sub(partial(_in_text, outdated), comment.text),
        html=FIELD.sub(partial(_in_html, outdated), comment.html),
        images=comment.images,
        warning=warning,
    )


def outdated_quotes(comment: Comment, figures: Figures) -> dict[Quote, str]:
    """Return the quoted figures that no longer hold, with a sentence on each."""
    outdated = {}
    for each in comment.quotes:
        now = figures.get(each.subject)
        if now is None or not each.holds(now.value(each.what), now.rate.unit):
            words = now.words(each.what) if now else MISSING
            outdated[each] = f"the {each.what} of {each.subject} is {words}, not {each.value}"
    return outdated


def _in_text(outdated: Mapping[Quote, str], found: re.Match[str]) -> str:
    """Return a quoted figure as Markdown; a figure that no longer holds is struck out."""
    each = quote(plain_field(found[1]))
    return f"~~{each.value}~~ ({outdated[each]})" if each in outdated else each.value


def _in_html(outdated: Mapping[Quote, str], found: re.Match[str]) -> str:
    each = quote(plain_field(unescape(found[1])))
    value = escape(each.value)
    if each not in outdated:
        return value
    return f'<s>{value}</s> <b class="failed">({escape(outdated[each])})</b>'


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
    """The subjects by their names: a run, ``NEW against BASE``, or the ``suite``."""
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
        return _told(figures, field.needed).words(field.kind)

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
        raise Refused(f"{shown(text)} is not a field; expected {{{{KIND NAME: TEXT}}}}")
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
    """Return charts by the first sentence of their own caption, or of their table's caption."""
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
    "comments": lambda report: _sections(report, _HEADING),
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
