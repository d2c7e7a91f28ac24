"""The writing of Parquet files, each complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from local.insights.values import quoted

ROW_GROUP = 122_880
"""The number of rows of a row group, which is DuckDB's unit."""
_OPTIONS = f"FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE {ROW_GROUP}"


@contextmanager
def parquet_of(select: str, unfinished: Path, threads: int) -> Iterator[Path]:
    """Write the rows of a SELECT to ``unfinished``, which is removed unless the caller renames it.

    The bytes are on the disk before the caller can rename the file.

    Raises
    ------
    duckdb.Error
        If the rows cannot be read or written.
    """
    try:
        with duckdb.connect(config={"threads": threads}) as connection:
            connection.execute("SET enable_progress_bar_print = FALSE")
            connection.execute(f"COPY ({select}) TO {quoted(str(unfinished))} ({_OPTIONS})")
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        yield unfinished
    finally:
        unfinished.unlink(missing_ok=True)
