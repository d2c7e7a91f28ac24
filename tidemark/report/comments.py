"""The comments of people in a report, with the quoted figures that no longer hold marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import escape, unescape
from typing import NamedTuple

from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.figures.version_rates import Quantity, VersionRate
from tidemark.model.comment import FIELD, Comment, Quote, plain_field, quote
from tidemark.model.numerals import MISSING, change, percent_places, supported
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural, there_are
from tidemark.report.blocks import Said, Section
from tidemark.report.comparison.sides import Sides
from tidemark.report.run_report.measured import MeasuredRun

HEADING = "Comments by people"


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
        f"{quantity.name} of {rate.version}": Known(rate, _verdict(run, quantity, rate))
        for quantity in run.quantities
        for rate in run.rates_of(quantity)
    }


def _verdict(run: MeasuredRun, quantity: Quantity, rate: VersionRate) -> Verdict | None:
    """Return the verdict on a version against its base, None if one of them has no rate."""
    bases = [each for each in run.rates_of(quantity) if each.version == rate.base]
    if rate.value is None or not bases or bases[0].value is None:
        return None
    return run.verdict(bases[0].version, rate.version, quantity)


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


def told(figures: Figures, subject: str) -> Known:
    """Return the figure of a subject; refuse one that no version has."""
    found = figures.get(subject)
    if found is None:
        raise Refused(f"there is no figure {subject!r}; {there_are(figures, subject)}")
    return found


def check_quotes(comment: Comment, figures: Figures) -> None:
    """Refuse a quoted figure that is unknown or does not hold; name what is stored."""
    for each in comment.quotes:
        told(figures, each.subject)
    for sentence in outdated_quotes(comment, figures).values():
        raise Refused(f"FILE: {sentence}")


def sections_of_run(run: MeasuredRun) -> Iterator[Section]:
    """Yield the section of the comments on a run, if there are any."""
    if own := [each for each in run.comments if each.base is None]:
        figures = figures_of_run(run)
        yield Section(HEADING, tuple(said(each, figures) for each in own))


def sections_of_sides(comments: Sequence[Comment], sides: Sides) -> Iterator[Section]:
    """Yield the section of the comments on a comparison, if there are any."""
    if comments:
        blocks = tuple(said(each, figures) for each, figures in with_figures(comments, sides))
        yield Section(HEADING, blocks)


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


def said(comment: Comment, figures: Figures) -> Said:
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
