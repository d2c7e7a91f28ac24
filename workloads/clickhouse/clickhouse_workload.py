"""ClickHouse through the package chdb: a table of records that merges only when it is told to."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

from chdb.session import Session
from harness.engine import RECORD_BYTES, Tally
from harness.task import CheckFailedError

_COLUMNS = "key FixedString(16), value FixedString(100)"
# Compaction is measured separately: no merge may begin by itself. SYSTEM STOP MERGES would not do,
# because chdb 2 starts its server anew for each call. A compressor cannot shrink random values.
_TABLE = """CREATE TABLE IF NOT EXISTS tidemark.records
(key FixedString(16) CODEC(NONE), value FixedString(100) CODEC(NONE))
ENGINE = MergeTree ORDER BY key SETTINGS
max_bytes_to_merge_at_min_space_in_pool = 1, max_bytes_to_merge_at_max_space_in_pool = 1"""
_PARTS = "SELECT count(), sum(rows) FROM system.parts WHERE active AND table = 'records'"
# An insert makes a part of some ten files, each a request to S3.
_PART_RECORDS = 250_000


class Store:
    """A database in a folder, with the table of records."""

    def __init__(self, folder: Path) -> None:
        self._inputs = Path(tempfile.mkdtemp(dir=folder.parent, prefix="inputs-"))
        self._session = Session(str(folder))
        self._ask("CREATE DATABASE IF NOT EXISTS tidemark")
        self._ask(_TABLE)
        self._records_read = self._written = 0

    def batch(self, records: list[bytes]) -> Path:
        """Append records to the file of an insert; return the file."""
        file = self._inputs / f"{self._written // _PART_RECORDS:06d}.bin"
        self._written += len(records)
        with file.open("ab") as content:
            content.write(b"".join(records))
        return file

    def write(self, batches: Sequence[Path]) -> None:
        """Insert all files, each once, in one call."""
        files = dict.fromkeys(batches)
        insert = "INSERT INTO tidemark.records SELECT * FROM file('{}', RowBinary, '{}')"
        self._ask(";".join(insert.format(file, _COLUMNS) for file in files))

    def compact(self) -> None:
        """Merge all parts into one."""
        _, self._records_read = self._parts()
        self._ask("OPTIMIZE TABLE tidemark.records FINAL")

    def tally(self) -> Tally:
        """Return the tally of all records, in the order of their keys."""
        rows = self._ask("SELECT key, value FROM tidemark.records ORDER BY key", "RowBinary")
        return Tally(len(rows) // RECORD_BYTES, crc32(rows))

    def close(self) -> None:
        """Close the database; chdb 2 has nothing open between two calls."""
        parts, _ = self._parts()
        if self._records_read and parts != 1:
            raise CheckFailedError(f"ClickHouse left {parts} parts: 1 was expected.")
        if hasattr(self._session, "close"):
            self._session.close()

    def records_read(self) -> int:
        """Return the number of records in the parts that compaction merged."""
        return self._records_read

    def _parts(self) -> tuple[int, int]:
        parts, records = self._ask(_PARTS).split(b",")
        return int(parts), int(records)

    def _ask(self, sql: str, form: str = "CSV") -> bytes:
        answer: bytes = self._session.query(sql, form).bytes()
        return answer


class Engine:
    """The version of ClickHouse that the installed package carries."""

    title = "ClickHouse"

    def __init__(self, place: str) -> None:
        pass

    def open_store(self, folder: Path) -> Store:
        """Open the database in ``folder``; create it if it is missing."""
        return Store(folder)

    def version(self, folder: Path) -> str:
        """Return the version that ClickHouse answers to ``SELECT version()``."""
        session = Session(str(folder))
        answer: str = session.query("SELECT version()", "TSV").bytes().decode().strip()
        if hasattr(session, "close"):
            session.close()
        return answer

    def files(self, folder: Path) -> list[Path]:
        """Return the files that make up the database in ``folder``."""
        return sorted(path for path in folder.rglob("*") if path.is_file())
