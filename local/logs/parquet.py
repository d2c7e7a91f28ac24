"""Parquet files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from local.insights.values import quoted

ROW_GROUP = 122_880
"""Rows of a row group; DuckDB's own unit."""
_OPTIONS = f"FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE {ROW_GROUP}"


@contextmanager
def parquet_of(select: str, unfinished: Path, threads: int) -> Iterator[Path]:
    """Write the rows of a SELECT to ``unfinished``, which the caller renames or is left without.

    What stands there is on the disk, so that its new name never comes before its bytes.

    Raises
    ------
    duckdb.Error
        If the rows cannot be read or written.
    """
    try:
        with duckdb.connect(config={"threads": threads}) as connection:
            connection.execute("SET enable_progress_bar_print = FALSE")
            connection.execute(f"COPY ({select}) TO {quoted(str(unfinished))} ({_OPTIONS})")
        with unfinished.open("rb") as written:
            os.fsync(written.fileno())
        yield unfinished
    finally:
        unfinished.unlink(missing_ok=True)
