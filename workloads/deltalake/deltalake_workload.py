"""Delta Lake through the package deltalake: a table that is appended to and then compacted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

# Delta Lake warns of each column of bytes in each file, and reads this when it is loaded.
os.environ.setdefault("RUST_LOG", "error")

import deltalake
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from harness.records import BATCH_RECORDS, KEY_BYTES, Tally
from pyarrow.parquet import read_metadata

_SCHEMA = pa.schema([("key", pa.binary()), ("value", pa.binary())])
# An append makes a file and a commit: a million records have twenty of them.
_APPENDED_BATCHES = 50_000 // BATCH_RECORDS


class Store:
    """A table in a folder."""

    def __init__(self, folder: Path) -> None:
        self._place = str(folder)
        self._compacted_version = 0

    def batch(self, records: list[bytes]) -> pa.Table:
        """Return records as a table of two columns."""
        keys = pa.array([record[:KEY_BYTES] for record in records], pa.binary())
        values = pa.array([record[KEY_BYTES:] for record in records], pa.binary())
        return pa.table([keys, values], schema=_SCHEMA)

    def write(self, batches: Sequence[pa.Table]) -> None:
        """Append all batches, fifty at a time."""
        for start in range(0, len(batches), _APPENDED_BATCHES):
            table = pa.concat_tables(batches[start : start + _APPENDED_BATCHES])
            write_deltalake(self._place, table, mode="append")

    def compact(self) -> None:
        """Merge the files of the table."""
        table = DeltaTable(self._place)
        self._compacted_version = table.version()
        table.optimize.compact()

    def tally(self) -> Tally:
        """Return the tally of all records, in the order of their keys."""
        table = DeltaTable(self._place).to_pyarrow_table().sort_by("key")
        columns = (table.column(name).to_pylist() for name in _SCHEMA.names)
        return Tally.of(chain.from_iterable(zip(*columns, strict=True)), pieces=2)

    def close(self) -> None:
        """Do nothing: every commit is whole."""

    def records_read(self) -> int:
        """Return the number of records in the files that compaction took out of the table."""
        before = DeltaTable(self._place, version=self._compacted_version).file_uris()
        merged = set(before) - set(DeltaTable(self._place).file_uris())
        return sum(read_metadata(file).num_rows for file in merged)


class Engine:
    """The version of Delta Lake that is installed."""

    title = "Delta Lake"

    def __init__(self, place: str) -> None:
        pass

    def open_store(self, folder: Path) -> Store:
        """Return the table in ``folder``; the first append creates it."""
        return Store(folder)

    def version(self, folder: Path) -> str:
        """Return the version that the loaded library gives itself."""
        version: str = deltalake.__version__
        return version

    def files(self, folder: Path) -> list[Path]:
        """Return the files that make up the table in ``folder``."""
        return sorted(path for path in folder.rglob("*") if path.is_file())
