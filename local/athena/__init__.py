"""Athena on one machine: its SQL over the JSON lines of tables, run by DuckDB.

>>> from local.athena import run
>>> run("SELECT max(value) AS best FROM rates", objects, catalogue, database="tidemark").rows
[['476190.5']]
"""

from local.athena.catalogue import Catalogue
from local.athena.engine import Result, keep, run
from local.athena.errors import MalformedQuery, QueryError, ScanLimitExceeded
from local.athena.kept import KeptRows
from local.athena.objects import Objects, StoredObject
from local.athena.parser import parse
from local.athena.results import csv, page

__all__ = [
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
]
