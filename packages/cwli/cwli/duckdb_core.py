"""DuckDB without its relations in Python, whose import takes a short query a third of its time.

`duckdb` imports these names from its extension, and wraps them in modules that no query needs.
"""

from __future__ import annotations

from _duckdb import (
    DuckDBPyConnection,
    Error,
    FatalException,
    InternalException,
    InterruptException,
    InvalidInputException,
    IOException,
    __version__,
    connect,
)

__all__ = [
    "DuckDBPyConnection",
    "Error",
    "FatalException",
    "IOException",
    "InternalException",
    "InterruptException",
    "InvalidInputException",
    "__version__",
    "connect",
]
