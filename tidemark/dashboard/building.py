"""The page of the dashboard, built from the tables of a deployed app."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from tidemark.client.tables import Tables
from tidemark.dashboard.data_sets import read_data_set
from tidemark.dashboard.page import page
from tidemark.dashboard.rows import Rows, read_rows, shrink_to_page
from tidemark.dashboard.sheets import dashboard
from tidemark.model.sentences import plural
from tidemark.pages.vega import vega
from tidemark.report.blocks import Link


def build(
    tables: Tables,
    now: datetime,
    damaged: Collection[str] = (),
    flame_graphs: Sequence[Link] = (),
) -> str:
    """Return the HTML page of the dashboard over the rows that the tables hold ``now``.

    ``damaged`` has a sentence about each object that the tables have left out by then, and
    ``flame_graphs`` the pages to which it links.
    """
    rows = {
        name: read_rows(tables, read_data_set(name), columns)
        for name, columns in dashboard().columns().items()
    }
    said = list(notes(rows, now, damaged))
    return page(dashboard(), shrink_to_page(rows), said, vega(), flame_graphs)


def notes(rows: Mapping[str, Rows], now: datetime, damaged: Collection[str] = ()) -> Iterator[str]:
    """Yield the sentences that a reader needs to understand the rows."""
    yield f"Results up to {now:%Y-%m-%d %H:%M} UTC."
    if damaged:
        yield f"{plural(len(damaged), 'damaged object')} left out: {' '.join(damaged)}"
    if not any(each.rows for each in rows.values()):
        yield "No results are stored yet; `tidemark run` measures versions."
