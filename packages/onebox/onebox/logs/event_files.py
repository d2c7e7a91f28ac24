"""The files of events: JSON lines, and Parquet files that are written whole or not at all.

A line has a CRC-32 of its event as the last member. A published Parquet file has its SHA-256 in a
file beside it, ``<name>.sha256``: Parquet itself has no checksum that DuckDB writes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from cwli import duckdb_core as duckdb
from cwli.insights.values import quoted
from onebox.disk import open_regular, sync_folder, write_synced

DOCTOR = "`tidemark doctor` says what can be done"


class LogStoreError(Exception):
    """A log group's name that cannot be stored, or a damaged file."""


# No text of an event has it: JSON escapes quotation marks.
_CHECKSUM = b', "crc32": '


class LogEvent(NamedTuple):
    """One event of a log stream; times in milliseconds since 1970-01-01 UTC."""

    id: str
    """The unique id; the ids of a stream sort in the order of writing."""
    timestamp: int
    ingestion_time: int
    log_stream: str
    message: str


class CheckedLines:
    """The lines that this process has compared with their checksums; whole lines never change."""

    def __init__(self) -> None:
        self._ends: dict[Path, tuple[int, int]] = {}

    def check(self, file: Path) -> None:
        """Raise LogStoreError if a line that is not known yet does not have its checksum."""
        number, end = self._ends.get(file, (0, 0))
        with open_regular(file) as lines:
            lines.seek(end)
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # its append has not returned
                if not is_whole(line):
                    raise LogStoreError(f"{file} is damaged: line {number + 1} changed; {DOCTOR}")
                number, end = number + 1, end + len(line)
        self._ends[file] = number, end


def line_of(event: LogEvent) -> bytes:
    """Return the line of an event."""
    text = json.dumps(event._asdict()).encode()
    return b"%b%b%d}\n" % (text[:-1], _CHECKSUM, crc32(text))


def event_of(line: bytes) -> LogEvent:
    """Return the event of a line; raise ValueError if the line is not an event or is damaged."""
    if not is_whole(line):
        raise ValueError("the line does not have its checksum")
    try:
        members = json.loads(line)
        return LogEvent(**{name: members[name] for name in LogEvent._fields})
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError("the line is not an event") from error


def is_whole(line: bytes) -> bool:
    """Tell whether a line has its checksum."""
    event, checksum, digits = line.rpartition(_CHECKSUM)
    return bool(checksum) and digits.rstrip(b"\n") == b"%d}" % crc32(event + b"}")


DIGEST = ".sha256"
_SHA256 = re.compile("[0-9a-f]{64}")
ROW_GROUP = 122_880
"""The number of rows of a row group, which is DuckDB's unit."""
_ERROR_NUMBER = re.compile(r'"errno":"(\d+)"')
_OPTIONS = f"FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE {ROW_GROUP}"


@cache
def _database(threads: int) -> duckdb.DuckDBPyConnection:
    """Return a database for all whole files: to open one takes longer than to read a small file."""
    return duckdb.connect(config={"threads": threads})


@contextmanager
def cursor(threads: int = 1) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a cursor of the database; after an error of DuckDB itself the next is of a new one.

    A database refuses every statement after such an error.
    """
    try:
        with _database(threads).cursor() as connection:
            yield connection
    except (duckdb.FatalException, duckdb.InternalException):
        _database.cache_clear()
        raise


@contextmanager
def parquet_of(select: str, unfinished: Path, threads: int) -> Iterator[Path]:
    """Write the rows of a SELECT to ``unfinished``, which is removed unless the caller renames it.

    Raises
    ------
    OSError
        If the rows cannot be written.
    duckdb.Error
        If the rows cannot be read.
    """
    try:
        with cursor(threads) as connection:
            connection.execute("SET enable_progress_bar_print = FALSE")
            connection.execute(f"COPY ({select}) TO {quoted(str(unfinished))} ({_OPTIONS})")
        yield unfinished
    except duckdb.IOException as error:
        # DuckDB tells the system's error in JSON.
        if found := _ERROR_NUMBER.search(str(error)):
            number = int(found[1])
            raise OSError(number, os.strerror(number), str(unfinished)) from error
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def publish(unfinished: Path, file: Path) -> None:
    """Give a written Parquet file its name, and return when bytes and name are on the disk."""
    with unfinished.open("rb") as content:
        os.fsync(content.fileno())
    write_synced(file.with_suffix(DIGEST), digest_of(unfinished))
    unfinished.replace(file)
    sync_folder(file.parent)


class CheckedFiles:
    """The Parquet files that this process has compared with their digests; they never change."""

    def __init__(self) -> None:
        self._whole: set[Path] = set()

    def check(self, files: Iterable[Path]) -> None:
        """Raise LogStoreError if a file that is not known yet does not have its digest."""
        for file in files:
            if file not in self._whole:
                check(file)
                self._whole.add(file)


def check(file: Path) -> None:
    """Raise LogStoreError if a Parquet file does not have the digest beside it."""
    if _differs(file):
        raise LogStoreError(f"{file} is damaged: {problem_of(file)}; {DOCTOR}")


def has_digest(file: Path) -> bool:
    """Tell whether a Parquet file has the digest beside it."""
    return _differs(file) is False


def problem_of(file: Path) -> str | None:
    """Return why a Parquet file is not what was published, or cannot be read; None if it can."""
    differs = _differs(file)
    if differs is None:
        return _reading_problem(file)
    if not differs:
        return None
    return _reading_problem(file) or f"it does not have the digest of {file.stem}{DIGEST}"


def _differs(file: Path) -> bool | None:
    """Tell whether a file differs from its digest; None if it has none, or a damaged one."""
    try:
        written = file.with_suffix(DIGEST).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:  # a segment of an earlier version
        return None
    return written != digest_of(file) if _SHA256.fullmatch(written) else None


def is_digest(file: Path) -> bool:
    """Tell whether a file has the form of a digest."""
    return bool(_SHA256.fullmatch(file.read_text(encoding="utf-8", errors="replace")))


def write_digest(file: Path) -> None:
    """Write the digest of a Parquet file as it is now."""
    write_synced(file.with_suffix(DIGEST), digest_of(file))


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with open_regular(file) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _reading_problem(file: Path) -> str | None:
    with duckdb.connect() as connection:
        try:
            # The hash of a row reads every column.
            rows = f"read_parquet({quoted(str(file))}) AS row"
            connection.execute(f"SELECT bit_xor(hash(row)) FROM {rows}").fetchall()  # noqa: S608
        except duckdb.Error as error:
            return str(error).partition("\n")[0]
    return None
