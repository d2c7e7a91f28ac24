"""Building the page of the dashboard from the tables of a deployed app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from cdk.definition import data_sets, read_definition
from cdk.vega import vega
from local.dashboard.dashboard import read_dashboard
from local.dashboard.page import page
from local.dashboard.rows import Rows, fitted, read_rows
from local.sql_client import SqlClient


def build(tables: SqlClient, now: datetime) -> str:
    """Return the dashboard of the stack over what the tables hold ``now``, as an HTML page."""
    definition = read_definition()
    known = data_sets(definition)
    dashboard = read_dashboard(definition, known)
    rows = {
        name: read_rows(tables, known[name], columns) for name, columns in dashboard.columns.items()
    }
    return page(dashboard, fitted(rows), list(said(rows, now)), vega())


def said(rows: Mapping[str, Rows], now: datetime) -> Iterator[str]:
    """Yield what a reader has to know of the rows."""
    yield f"What was stored by {now:%Y-%m-%d %H:%M} UTC."
    if not any(of.rows for of in rows.values()):
        yield "Nothing is stored yet: `tidemark run` measures something."
