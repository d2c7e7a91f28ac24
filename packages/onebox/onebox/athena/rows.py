"""The reading of JSON lines of objects as rows of a table, and the cache of these rows.

A column that a line lacks is null, and unknown fields of a line are not read. A value that does not
fit the type of its column is an error that names the object; Hive would convert it if possible.

Objects of finished runs do not change. The objects of a partition, ordered by place, are cut into
batches, and the rows of each batch are kept as Parquet. Runs are named by their times, so the
object of a new run comes last and leaves the earlier batches unchanged. It is read by itself until
it fills a batch with others.

The SHA-256 of a file is in a second one, ``<name>.sha256``. A damaged file is written again. The
name of a file is a digest of the places and MD5s of its objects, and of the SQL and DuckDB's
version that read them. A file is therefore never out of date, only no longer used.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import duckdb

from onebox.athena.catalogue import (
    Members,
    Objects,
    Partition,
    StoredObject,
    Table,
    TableObject,
    Value,
    duckdb_type,
    pairs,
    text_of,
)
from onebox.athena.errors import QueryError

_WHOLE = "json_type({0}) IN ('BIGINT', 'UBIGINT') AND TRY_CAST({0} AS {1}) IS NOT NULL"
_TEXT = "json_type({0}) = 'VARCHAR'"
_TIMESTAMP = (
    f"{_TEXT} AND regexp_full_match({{0}} ->> '$', "
    r"'[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,3}})?') "
    "AND TRY_CAST({0} ->> '$' AS {1}) IS NOT NULL"
)
_TEXTS = (
    "json_type({0}) = 'ARRAY' AND len(list_filter(json_transform({0}, '[\"JSON\"]'), "
    "lambda each: json_type(each) NOT IN ('VARCHAR', 'NULL'))) = 0"
)
# The test and the conversion of a JSON value for each Glue type.
_READS = {
    "string": (_TEXT, "{0} ->> '$'"),
    "int": (_WHOLE, "CAST({0} AS {1})"),
    "bigint": (_WHOLE, "CAST({0} AS {1})"),
    "double": (
        "json_type({0}) IN ('DOUBLE', 'BIGINT', 'UBIGINT') AND isfinite(CAST({0} AS {1}))",
        "CAST({0} AS {1})",
    ),
    "boolean": ("json_type({0}) = 'BOOLEAN'", "CAST({0} AS {1})"),
    "timestamp": (_TIMESTAMP, "CAST({0} ->> '$' AS {1})"),
    "array<string>": (_TEXTS, "json_transform({0}, '[\"VARCHAR\"]')"),
}


class ObjectChanged(Exception):
    """An object that changed between its listing and its reading; the message is its place."""


@dataclass(frozen=True)
class Reader:
    """A reader of the objects of one table into DuckDB."""

    connection: duckdb.DuckDBPyConnection
    table: Table
    objects: Objects

    @cached_property
    def sql(self) -> str:
        """The SELECT of every column."""
        return rows_sql(self.table, [*self.table.columns, *self.table.partitioned_by])

    def create(self, name: str, columns: Sequence[str], members: Sequence[TableObject]) -> None:
        """Create a table with some columns of the rows of objects."""
        rows = rows_sql(self.table, columns)
        parameters = row_parameters(self.table, members, self._bodies(members))
        self.connection.execute(f"CREATE TEMP TABLE {quoted_name(name)} AS {rows}", parameters)

    def copy(self, members: Sequence[TableObject], file: Path) -> None:
        """Write the rows of objects, with every column, as Parquet.

        Raises
        ------
        ObjectChanged
            If an object changed after its listing.
        """
        bodies = self._bodies(members)
        for (_, stored), body in zip(members, bodies, strict=True):
            if hashlib.md5(body, usedforsecurity=False).hexdigest() != stored.md5:
                raise ObjectChanged(stored.location)
        self.connection.execute(
            f"COPY ({self.sql}) TO {quoted_text(str(file))} (FORMAT parquet, COMPRESSION zstd)",
            row_parameters(self.table, members, bodies),
        )

    def _bodies(self, members: Sequence[TableObject]) -> list[bytes]:
        return [self.objects.read(stored.location) for _, stored in members]


def rows_sql(table: Table, columns: Sequence[str]) -> str:
    """Return the SELECT of ``columns`` of a table from objects.

    Its parameters come from ``row_parameters``.
    """
    read = [column for column in columns if column in table.columns]
    structure = json.dumps(dict.fromkeys(read or ["#"], "JSON"))
    values = [_value(column, table.columns[column]) for column in read]
    values += [quoted_name(column) for column in columns if column in table.partitioned_by]
    partitions = partition_columns(table)
    return (
        f"SELECT {', '.join(values) or 'row'} FROM (SELECT *, json_transform("  # noqa: S608 (quoted)
        "CASE WHEN json_valid(line) AND json_type(line) = 'OBJECT' THEN line "
        "ELSE error('HIVE_CURSOR_ERROR: Row is not a valid JSON Object: ' || location) END, "
        f"{quoted_text(structure)}) AS row FROM (SELECT * EXCLUDE body, "
        "unnest(string_split(body, chr(10))) AS line FROM (SELECT unnest($locations) AS location, "
        f"unnest($bodies) AS body{', ' if partitions else ''}{partitions})) WHERE line <> '')"
    )


def row_parameters(
    table: Table, members: Sequence[TableObject], bodies: Sequence[bytes]
) -> dict[str, Sequence[Value]]:
    """Return the parameters of ``rows_sql``: the place, text and partition of each object.

    Raises
    ------
    QueryError
        If an object is not gzipped UTF-8.
    """
    locations = [stored.location for _, stored in members]
    return {
        "locations": locations,
        "bodies": [text_of(*item) for item in zip(locations, bodies, strict=True)],
        **partition_parameters(table, [partition for partition, _ in members]),
    }


def partition_columns(table: Table) -> str:
    """Return the SQL of the partition columns, with parameters of ``partition_parameters``."""
    return ", ".join(
        f"unnest(CAST($partition{position} AS {duckdb_type(type_)}[])) AS {quoted_name(column)}"
        for position, (column, type_) in enumerate(table.partitioned_by.items())
    )


def partition_parameters(
    table: Table, partitions: Sequence[Partition]
) -> dict[str, Sequence[Value]]:
    """Return the values of partitions by column, as ``partition0`` and so on."""
    return {
        f"partition{position}": [partition.values[position] for partition in partitions]
        for position in range(len(table.partitioned_by))
    }


def quoted_name(name: str) -> str:
    """Return a name as a quoted identifier of DuckDB."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Return a text as a string literal of DuckDB."""
    return "'" + text.replace("'", "''") + "'"


def _value(column: str, type_: str) -> str:
    value = f"row.{quoted_name(column)}"
    test, conversion = (sql.format(value, duckdb_type(type_)) for sql in _READS[type_])
    problem = quoted_text(f"HIVE_BAD_DATA: Field {column} of type {type_} cannot be ")
    return (
        f"CASE WHEN {value} IS NULL OR json_type({value}) = 'NULL' THEN NULL WHEN {test} "
        f"THEN {conversion} ELSE error({problem} || {value} || ' in ' || location) END "
        f"AS {quoted_name(column)}"
    )


_PARQUET, _DIGEST = ".parquet", ".sha256"
BATCH_SIZES = (2_500, 250, 50, 10)
"""The numbers of objects in one file, the largest first, so that there are few files."""


class RowCache:
    """A folder with the rows of tables, one file for each batch of objects, used by one process.

    Parameters
    ----------
    folder : Path
        The folder, created with the first file. It may be removed between queries.
    batch_sizes : sequence of int
        The numbers of objects in one file, the largest first.
    """

    def __init__(self, folder: Path, batch_sizes: Sequence[int] = BATCH_SIZES) -> None:
        self.folder = folder
        self._batch_sizes = batch_sizes
        self._lock = threading.Lock()
        self._whole: dict[Path, tuple[int, int]] = {}

    def read(
        self, reader: Reader, members: Sequence[Members]
    ) -> tuple[list[Path], list[TableObject]]:
        """Return the files of objects, and the objects without a file.

        A batch without a file gets one now.

        Parameters
        ----------
        members : sequence
            All objects of some partitions of the reader's table.

        Raises
        ------
        QueryError
            If an object without a file is not gzipped UTF-8.
        """
        files: list[Path] = []
        others: list[TableObject] = []
        for file, batch in self._batches(reader, members):
            if file and self._ensure(file, reader, batch):
                files.append(file)
            else:
                others += pairs(batch)
        return files, others

    def keep(self, reader: Reader, members: Sequence[Members], deadline: float) -> None:
        """Write a file for each batch of a table, and remove files that are no longer used.

        Parameters
        ----------
        members : sequence
            All objects of the reader's table.
        deadline : float
            The time after which no batch is begun, by ``time.monotonic`` [s].
        """
        batches = {file: batch for file, batch in self._batches(reader, members) if file}
        with suppress(OSError):
            for kept in self._folder_of(reader).iterdir():
                if kept.with_suffix(_PARQUET) not in batches:
                    kept.unlink()
        for file, batch in batches.items():
            if time.monotonic() >= deadline:
                break
            # A query of these objects gets this error.
            with suppress(QueryError):
                self._ensure(file, reader, batch)

    def _batches(
        self, reader: Reader, members: Sequence[Members]
    ) -> Iterator[tuple[Path | None, Members]]:
        """Yield each batch with its file, and the remaining objects of a partition with None."""
        folder = self._folder_of(reader)
        for partition, objects in members:
            remaining = objects
            for size in self._batch_sizes:
                while len(remaining) >= size:
                    batch, remaining = remaining[:size], remaining[size:]
                    file = folder / f"{_digest(_identity(reader, batch))}{_PARQUET}"
                    yield file, (partition, batch)
            yield None, (partition, remaining)

    def _ensure(self, file: Path, reader: Reader, batch: Members) -> bool:
        """Write the rows of a batch if they have no file, and tell whether they have one now."""
        # A query must succeed even with a full disk, or with a value of the wrong type in a column
        # that it does not use.
        with self._lock, suppress(OSError, duckdb.Error, ObjectChanged):
            if not self._is_whole(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                unfinished = file.with_suffix(".unfinished")
                reader.copy(pairs(batch), unfinished)
                file.with_suffix(_DIGEST).write_text(_sha256(unfinished))
                unfinished.replace(file)
            return True
        return False

    def _is_whole(self, file: Path) -> bool:
        """Tell whether a file exists and is as it was written; compare it if it is not known."""
        try:
            status = file.stat()
            known = status.st_size, status.st_mtime_ns
            if self._whole.get(file) != known:
                if file.with_suffix(_DIGEST).read_text() != _sha256(file):
                    return False
                self._whole[file] = known
        except (OSError, UnicodeDecodeError):
            return False
        return True

    def _folder_of(self, reader: Reader) -> Path:
        return self.folder / _digest(reader.table.name)


def _identity(reader: Reader, batch: Sequence[StoredObject]) -> str:
    """Return a text that identifies the rows of a batch."""
    lines = [f"{location} {md5}\n" for location, _, md5 in batch]
    return f"{duckdb.__version__} {reader.sql}\n{''.join(lines)}"


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
