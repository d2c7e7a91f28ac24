"""The figures of a file in any of the accepted forms, and those that contradict each other."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import combinations
from typing import NamedTuple

from tidemark.client.published.foreign import TOOLS, foreign
from tidemark.client.published.own_figures import (
    Direction,
    Found,
    Known,
    OwnFigure,
    left_out_of,
    own_figures,
    own_tables,
    readings_of,
)
from tidemark.client.published.release_figure import ReleaseFigure, amount, is_amount, refused_at
from tidemark.client.published.release_tables import (
    DERIVED,
    Wishes,
    layout,
    release_figures,
    tables_left_out,
    version_columns,
)
from tidemark.client.published.status_reports import (
    JobReport,
    json_report,
    other_reports,
    report_figures,
    text_reports,
)
from tidemark.client.published.tables import PageTable, TableRow, is_page, listed_table, tables
from tidemark.figures.version_rates import change
from tidemark.model.numerals import percent
from tidemark.model.publication import Publication, PublishedMetric, plain_name
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, plural

_PERCENT = re.compile(r"(?P<sign>[-+\N{MINUS SIGN}]?)(?P<number>\d+(?:\.(?P<digits>\d+))?)\s?%")


def _changes_of_tables(tables: Sequence[PageTable]) -> Iterator[str]:
    """Yield a sentence for each printed change that does not fit the two versions beside it."""
    for table in tables:
        versions = version_columns(table)
        changes = [n for n, text in enumerate(table.headings) if plain_name(text) in DERIVED]
        if len(versions) == 2 and len(changes) == 1:
            for row in table.rows:
                yield from _wrong_change(row, versions[0], versions[1], changes[0])


def _wrong_change(row: TableRow, base: int, new: int, column: int) -> Iterator[str]:
    printed = _PERCENT.fullmatch(row.cells[column])
    if not printed or not all(is_amount(row.cells[each]) for each in (base, new)):
        return
    before, after = (amount(row.cells[each], "").value for each in (base, new))
    found = change(before, after)
    if found is None:
        return
    sign = -1 if printed["sign"] in {"-", "\N{MINUS SIGN}"} else 1
    digits = len(printed["digits"] or "")
    if percent(sign * float(printed["number"]) / 100, digits) != percent(found, digits):
        figures = f"from {row.cells[base]} to {row.cells[new]} is {percent(found, digits)}"
        yield f"line {row.line}: the change {figures}, not {row.cells[column]}"


def _in_two_units(figures: Sequence[ReleaseFigure]) -> Iterator[str]:
    """Yield a sentence for each two figures that are one rate in two units, and differ."""
    releases: defaultdict[object, list[tuple[ReleaseFigure, Printed]]] = defaultdict(list)
    for each in figures:
        if printed := printed_rate(each.amount.text, _unit(each.metric)):
            place = (each.version, each.tested_on, each.metric.test, *each.metric.axes.values())
            releases[(*place, printed.noun)].append((each, printed))
    for group in releases.values():
        for (one, first), (other, second) in combinations(group, 2):
            if one.metric.unit != other.metric.unit and contradict(first, second):
                both = f"{first.text} contradicts {second.text}, if one client calls"
                yield f"line {other.line}: {one.version}: {both}"


def _unit(metric: PublishedMetric) -> str:
    """Return the unit of a metric, ``ms/request`` if it is the time per request."""
    noun = metric.metric.removeprefix("time_per_")
    return metric.unit if noun == metric.metric else f"{metric.unit}/{noun}"


def file_figures(text: str, publication: Publication, wishes: Wishes) -> list[ReleaseFigure]:
    """Return the figures of a file, each once.

    The content tells the form: JSON, a report, a page with tables, or comma-separated values.

    Raises
    ------
    Refused
        If the file has no figures, or one that is ambiguous.

    """
    read = _figures(text, publication, wishes)
    figures = list(_once(read) if is_page(text) else read)
    if not figures:
        known = listed(figure.columns[0] for figure in publication.figures)
        raise Refused(
            f"FILE: no table has figures of {publication.title}; expected columns such as Version "
            f"number, Test date and {known}"
        )
    return figures


def published_figures(text: str, publication: Publication, wishes: Wishes) -> Found:
    """Return the figures of a file of a suite whose metrics are known, and remarks on it.

    Raises
    ------
    Refused
        If the file has no figures, or one that is ambiguous.

    """
    figures = file_figures(text, publication, wishes)
    notes = [f"contradiction: {sentence}" for sentence in contradictions(text, figures)]
    left = [f"left out: {part}" for part in left_out(text, publication, wishes)]
    return Found(publication, figures, [*notes, *left])


class Unnamed(NamedTuple):
    """The figures of a file that no suite describes, as they stand there."""

    figures: Sequence[OwnFigure]
    notes: Sequence[str]
    """Remarks on the form of the file."""
    left_out: Sequence[str]

    def named(self, title: str, better: Direction | None, stored: Mapping[str, Known]) -> Found:
        """Return the figures with their metrics; see ``own_figures``."""
        found = own_figures(self.figures, title, better, stored)
        left = [f"left out: {part}" for part in self.left_out]
        return found._replace(notes=[*self.notes, *found.notes, *left])


def figures_without_suite(text: str, wishes: Wishes, today: date) -> Unnamed:
    """Return the figures of a file that no suite describes.

    Raises
    ------
    Refused
        If the file has no figures, or one that is ambiguous.

    """
    if tool := foreign(text, wishes, today):
        return Unnamed(tool.figures, [f"{tool.tool}: {tool.note}"] if tool.note else [], [])
    if _starts_json(text):
        value, mistake = _parsed(text)
        if value is not None:
            raise Refused(
                f"FILE: the JSON is not from a known tool; expected one of {listed(TOOLS)}"
            )
        if not is_page(text):
            raise Refused(f"FILE: {mistake}; expected the whole file of {listed(TOOLS)}")
    read = tables(text)
    figures = list(own_tables(read, wishes, today))
    return Unnamed(figures, list(readings_of(read, wishes)), list(left_out_of(read, wishes)))


def contradictions(text: str, figures: Sequence[ReleaseFigure]) -> Iterator[str]:
    """Yield a sentence for each contradiction in a file whose figures are accepted."""
    if not _reports(text):
        yield from _changes_of_tables(tables(text))
    yield from _in_two_units(figures)


def left_out(text: str, publication: Publication, wishes: Wishes) -> Iterator[str]:
    """Yield the parts of an accepted file that give no figure, each with its number."""
    if reports := _reports(text):
        for report in reports:
            if report.left_out:
                count = plural(report.left_out, f"{report.kind} job")
                yield f"{count} that split, failed or did not finish"
        if others := other_reports(text):
            yield f"{plural(others, 'report')} of other things than jobs"
        return
    yield from tables_left_out(tables(text), publication, wishes)
    figures = [each.key for each in _figures(text, publication, wishes)]
    if again := len(figures) - len(set(figures)):
        yield f"{plural(again, 'figure')} that the file has before"


def _reports(text: str) -> Sequence[JobReport]:
    if _starts_json(text) and (value := _parsed(text)[0]) is not None:
        return [json_report(value)]
    return text_reports(text)


def _starts_json(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}


def _figures(text: str, publication: Publication, wishes: Wishes) -> Iterable[ReleaseFigure]:
    if reports := _reports(text):
        if not _starts_json(text):
            _check_alone(reports[0], text, publication)
        return _of_reports(reports, publication, wishes)
    read = tables(text) or listed_table(text, publication)
    return release_figures(read, publication, wishes)


def _check_alone(report: JobReport, text: str, publication: Publication) -> None:
    """Refuse a page that has a report and a table with figures, which would be lost."""
    for table in tables(text) if is_page(text) else ():
        if layout(table, publication, ()).metrics:
            sentence = f"line {report.line} begins a report; expected one of both in FILE"
            raise refused_at(table.line, f"the table has figures, and {sentence}")


def _of_reports(
    reports: Sequence[JobReport], publication: Publication, wishes: Wishes
) -> Iterable[ReleaseFigure]:
    for option, given in (
        ("--date", wishes.tested_on),
        ("--dates", wishes.order),
        ("--leave-out", listed(wishes.left_out)),
    ):
        if given:
            raise Refused(f"{option}: {given} has no effect on a report; expected a page of tables")
    return report_figures(reports, publication, wishes.version)


def _parsed(text: str) -> tuple[object, str]:
    """Return the value of a JSON document, or None and why a text is none: a link begins a page.

    Python reads neither deep nesting nor numbers of more than 4,300 digits.
    """
    try:
        return json.loads(text.removeprefix("\ufeff")), ""
    except json.JSONDecodeError as error:
        return None, f"line {error.lineno} is not JSON: {error.msg}"
    except (ValueError, RecursionError) as error:
        return None, f"the JSON cannot be read: {error}"


def _once(figures: Iterable[ReleaseFigure]) -> Iterator[ReleaseFigure]:
    """Yield each figure once; refuse two of one version, day and metric that differ."""
    known: dict[object, ReleaseFigure] = {}
    for each in figures:
        first = known.setdefault(each.key, each)
        if first is each:
            yield each
        elif first.amount.value != each.amount.value:
            sentence = f"{each.name} is {each.amount.text}, and {first.amount.text} in line"
            raise refused_at(each.line, f"{sentence} {first.line}; expected one figure")


# One rate of calls in several units: if one client calls and waits, 71,500 calls an hour are 19.9
# calls a second, and 50.3 ms a call.
_UNIT = re.compile(r"(?P<many>[a-z ]+?)s?/(?P<time>h|s)|(?P<each>ms|s)/(?P<one>[a-z ]+)")
_SECONDS = {"h": 3_600.0, "s": 1.0, "ms": 0.001}
# A request of a client is a call of its function.
_SYNONYMS = {"call": "request"}


class Printed(NamedTuple):
    """A printed rate: the seconds of one call lie between two bounds, as its digits say."""

    text: str
    noun: str
    """The calls, such as ``request``."""
    least: float
    most: float


def printed_rate(digits: str, unit: str) -> Printed | None:
    """Return a rate such as ``71500`` ``calls/h`` or ``50.3`` ``ms/call``; None for other units.

    A zero at the end of a whole number may be rounded: 71500 stands for 71,450 to 71,550.
    """
    match = _UNIT.fullmatch(unit)
    if match is None:
        return None
    plain = re.sub(r"[, ]", "", digits)
    if not re.fullmatch(r"\d+(\.\d+)?", plain):
        return None
    value, half = float(plain), _last_digit(plain) / 2
    if not value:
        return None
    if match["each"]:
        seconds = _SECONDS[match["each"]]
        bounds = (value - half) * seconds, (value + half) * seconds
    else:
        seconds = _SECONDS[match["time"]]
        bounds = seconds / (value + half), seconds / (value - half)
    noun = match["many"] or match["one"]
    return Printed(f"{digits} {unit}", _SYNONYMS.get(noun, noun), *bounds)


def contradict(one: Printed, other: Printed) -> bool:
    """Tell whether no rate has both texts."""
    return one.least > other.most or other.least > one.most


def _last_digit(plain: str) -> float:
    """Return the value of the last digit that is certain."""
    whole, point, fraction = plain.partition(".")
    if point:
        return float(10.0 ** -len(fraction))
    return float(10.0 ** (len(whole) - len(whole.rstrip("0"))))
