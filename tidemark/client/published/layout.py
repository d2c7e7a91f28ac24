"""The meaning of the columns of a table: the version, the day, and the figures."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from tidemark.client.published.amounts import is_amount
from tidemark.client.published.release_figure import refused_at
from tidemark.client.published.tables import PageTable
from tidemark.client.published.version_columns import named_run
from tidemark.model.publication import Publication, PublishedMetric, plain_name
from tidemark.model.sentences import listed, shown

VERSION_NAMES = {"version", "version number", "version no", "release", "release version", "tag"}
DAY_NAMES = {
    "date", "day", "test date", "date of test", "date tested", "tested", "tested on", "run date",
    "release date", "released", "released on", "published", "measured", "measured on",
}  # fmt: skip
# A heading with its unit in brackets or behind a comma: Compaction rate (records/s).
_WITH_UNIT = re.compile(r"(.*?)\s*(?:[(\[]([^()\[\]]*)[)\]]|,\s*(\S+))\s*")
_PER_SECOND = re.compile(r"\s*(?:per|/)\s*(?:seconds?|secs?|s)\b|\bps$", re.IGNORECASE)


class Layout(NamedTuple):
    """The places of the columns of a table."""

    version: int | None
    day: int | None
    metrics: Mapping[int, PublishedMetric]


def layout(table: PageTable, publication: Publication, left_out: Collection[str]) -> Layout:
    """Return the meaning of a table's columns; ``left_out`` are headings that do not count.

    Raises
    ------
    Refused
        If a column has two meanings, two columns have one, or a column has unknown figures.

    """
    ignored = {plain_name(heading) for heading in left_out}
    names = [
        None
        if plain_name(heading) in ignored
        else plain_name(heading_parts(named_run(heading)[0])[0])
        for heading in table.headings
    ]
    title = plain_name(publication.title)
    version = _only(table, names, {*VERSION_NAMES, f"{title} version", title})
    day = _only(table, names, DAY_NAMES)
    metrics: dict[int, PublishedMetric] = {}
    unknown = []
    for column, heading in enumerate(table.headings):
        name = names[column]
        if name is None or column in (version, day):
            continue
        known = _known(heading, name, publication)
        if known is None:
            unknown.append(column)
        elif known in metrics.values():
            raise refused_at(table.line, f"{shown(heading)} is a second column of {known.metric}")
        else:
            _check_unit(table, named_run(heading)[0], known)
            metrics[column] = known
    # A table of settings has no measured figures to lose.
    if metrics or (version is not None and day is not None):
        for column in unknown:
            _check_remarks(table, column, publication)
    return Layout(version, day, metrics)


def _known(heading: str, name: str, publication: Publication) -> PublishedMetric | None:
    """Return the metric of a heading, of one run if the heading names it; None for no metric."""
    known = next((each for each in publication.figures if name in each.names), None)
    run = named_run(heading)[1]
    return known.of_run(run) if known and run else known


def heading_parts(heading: str) -> tuple[str, str]:
    """Return the name and the unit of a heading, '' without a unit."""
    match = _WITH_UNIT.fullmatch(heading)
    return (match[1], match[2] or match[3] or "") if match else (heading, "")


def _only(table: PageTable, names: Sequence[str | None], wanted: Collection[str]) -> int | None:
    found = [column for column, name in enumerate(names) if name in wanted]
    if len(found) > 1:
        both = listed(shown(table.headings[column]) for column in found)
        raise refused_at(
            table.line, f"{both} have the same meaning; leave one out with --leave-out"
        )
    return found[0] if found else None


def _check_unit(table: PageTable, heading: str, metric: PublishedMetric) -> None:
    unit = heading_parts(heading)[1]
    if unit and _normal(unit) != _normal(metric.unit):
        sentence = f"the unit of {shown(heading)} is {shown(unit)}; expected {metric.unit}"
        raise refused_at(table.line, sentence)


def _normal(unit: str) -> str:
    """Return a unit in which rows are records, and ``per second`` is ``/s``."""
    # A heading of Sleeper 0.27 has the unit records/s/.
    text = _PER_SECOND.sub("/s", unit.strip(" /").casefold())
    return re.sub(r"^(?:rows?|recs?|records?|lines?)\b", "records", text)


def _check_remarks(table: PageTable, column: int, publication: Publication) -> None:
    """Refuse a column that has figures and no known name."""
    figures = [row for row in table.rows if is_amount(row.cells[column])]
    if figures:
        heading = shown(table.headings[column])
        known = listed(figure.columns[0] for figure in publication.figures)
        raise refused_at(
            table.line,
            f"the column {heading} has figures and is no metric of {publication.title}; known are "
            f"{known}; --leave-out {heading} leaves it out",
        )
