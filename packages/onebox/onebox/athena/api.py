"""Athena on one machine: its SQL over the JSON lines of tables, run by DuckDB.

>>> from onebox.athena import api
>>> api.run("SELECT max(value) AS best FROM rates", objects, catalogue, database="tidemark").rows
[['476190.5']]
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlglot import exp

from cwli.cancellation import Cancellation
from onebox.athena.catalogue import Catalogue
from onebox.athena.errors import MalformedQuery, QueryError, ScanLimitExceeded
from onebox.athena.execution import MOST_SECONDS, execute, keep
from onebox.athena.kept import KeptRows
from onebox.athena.objects import Objects, StoredObject
from onebox.athena.parser import parse
from onebox.athena.results import Result, csv, page
from onebox.athena.translation import translate, translate_parsed

__all__ = [
    "MOST_SECONDS",
    "Catalogue",
    "KeptRows",
    "MalformedQuery",
    "Objects",
    "QueryError",
    "Result",
    "ScanLimitExceeded",
    "StoredObject",
    "csv",
    "keep",
    "page",
    "parse",
    "run",
    "translate",
]


def run(
    query: str | exp.Query,
    objects: Objects,
    catalogue: Catalogue,
    *,
    database: str | None = None,
    parameters: Sequence[str] = (),
    most_bytes: float = math.inf,
    kept: KeptRows | None = None,
    cancellation: Cancellation | None = None,
) -> Result:
    """Run a query and return its result.

    Parameters
    ----------
    query
        The text of a query, or the return value of `parse`.
    objects
        The objects of the tables.
    catalogue
        The tables, as Glue describes them.
    database
        The database of tables that the query names without one.
    parameters
        The SQL literal for each ``?`` of a text.
    most_bytes
        The maximum size of the objects that are read.
    kept
        The cache of rows, which saves reading their objects for every query.
    cancellation
        The end of the query before its result; by default at the time limit of Athena.

    Raises
    ------
    QueryError
        If the query is refused, its data cannot be read, its run fails or its time is over.
    Cancelled
        If the query is cancelled.
    """
    parsed = parse(query, parameters) if isinstance(query, str) else query.copy()
    translation, types = translate_parsed(parsed, catalogue, database)
    ending = cancellation or Cancellation(MOST_SECONDS)
    found = execute(translation, objects, catalogue, most_bytes, kept, ending)
    names = [column.name for column in translation.columns]
    return Result(list(zip(names, types, strict=True)), found.rows, found.scanned_bytes)
