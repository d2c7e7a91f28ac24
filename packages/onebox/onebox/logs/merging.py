"""The merging of many small Parquet segments of a log group into one.

A merge writes a list of the sources, then the merged segment. The rename that gives the merged
segment its name also makes it count instead of its sources. The sources stay for a while, since a
reader in any process may have listed them before. The list stays longer, so that a reader of a
source and of the merged segment knows that both hold the same events.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cwli import duckdb_core as duckdb
from cwli.insights.values import quoted
from onebox.disk import sync_folder, write_synced
from onebox.logs.event_files import (
    DIGEST,
    DOCTOR,
    LogEvent,
    LogStoreError,
    check,
    parquet_of,
    publish,
)
from onebox.logs.templates import sorted_events

MIN_FILES = 8
"""The minimum number of small segments for a merge."""
_MERGED = "-merged"
SOURCES = ".sources"
_UNFINISHED = ".tmp"
_PARQUET = ".parquet"


def superseded_by(file: Path) -> list[Path]:
    """Return the sources of a merged segment, none for any other Parquet segment.

    Raises
    ------
    LogStoreError
        If their list is damaged.
    """
    if not file.stem.endswith(_MERGED):
        return []
    listed = file.with_suffix(SOURCES)
    try:
        return [file.with_name(name) for name in json.loads(listed.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []  # the list was removed, long after the last source
    except (ValueError, TypeError):
        problem = f"{listed} is damaged: it is no list of segments"
        raise LogStoreError(f"{problem}; {DOCTOR}") from None


def write_sources(merged: Path, sources: Sequence[Path]) -> None:
    """Write the list of the sources of a merged segment; its content is then on the disk."""
    write_synced(merged.with_suffix(SOURCES), json.dumps([source.name for source in sources]))


def merge_small(
    folder: Path, files: Sequence[Path], most_events: int, templated_bytes: int
) -> None:
    """Merge the small Parquet segments of a log group, if there are many.

    Parameters
    ----------
    folder : Path
        The log group's folder.
    files : sequence of Path
        The segments that may be merged. Each counts, and no other file holds its events.
    most_events : int
        The maximum number of events of a merged segment. A segment with less than half of it is
        small.
    templated_bytes : int
        The minimum size of merged segments whose events get templates.
    """
    with _merge_lock(folder) as free:
        # Another process may have merged some files since the caller listed them.
        merges = folder.glob(f"*{_MERGED}.parquet")
        excluded = {file for merged in merges for file in _with_sources(merged)}
        candidates = [file for file in files if file.exists() and file not in excluded]
        if free and len(candidates) >= MIN_FILES:
            sources = _small(candidates, most_events)
            if len(sources) >= MIN_FILES:
                _merge(folder, sources, templated_bytes)


def clear(folder: Path, retention_seconds: float) -> None:
    """Remove sources and leftovers of killed processes ``retention_seconds`` after their merge."""
    now = time.time()
    for path in folder.glob(f"*{SOURCES}"):
        _clear_sources(path, retention_seconds, now)
    leftovers = [*folder.glob(f"*{_UNFINISHED}"), *filter(_is_alone, folder.glob(f"*{DIGEST}"))]
    for path in leftovers:
        if _age(path, now) > retention_seconds:
            path.unlink(missing_ok=True)


def _clear_sources(path: Path, retention_seconds: float, now: float) -> None:
    """Remove the sources of a merged segment, and later their list."""
    merged = path.with_suffix(_PARQUET)
    if not merged.exists():
        if _age(path, now) > retention_seconds:
            path.unlink(missing_ok=True)
        return
    sources = [source for source in superseded_by(merged) if source.exists()]
    if _age(merged, now) > retention_seconds:
        for source in sources:
            source.unlink(missing_ok=True)
    if not sources and _age(merged, now) > 2 * retention_seconds:
        path.unlink(missing_ok=True)


def _is_alone(digest: Path) -> bool:
    return not digest.with_suffix(_PARQUET).exists()


def _with_sources(merged: Path) -> list[Path]:
    """Return a merged segment and its sources, nothing if it has no sources."""
    sources = superseded_by(merged)
    return [merged, *sources] if sources else []


def _small(files: Sequence[Path], most_events: int) -> list[Path]:
    """Return the oldest small segments that fit into one merged segment."""
    names = ", ".join(quoted(str(file)) for file in files)
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT file_name, num_rows FROM parquet_file_metadata([{names}])"  # noqa: S608
        ).fetchall()
    events = {Path(name): count for name, count in rows}
    small: list[Path] = []
    total = 0
    for file in files:
        total += events[file] if events[file] < most_events / 2 else 0
        if total > most_events:
            break
        if events[file] < most_events / 2:
            small.append(file)
    return small


def _merge(folder: Path, sources: Sequence[Path], templated_bytes: int) -> None:
    for source in sources:
        check(source)  # the digest of the merged segment would hide the damage
    name = f"{time.time_ns():020d}-{os.getpid()}-{os.urandom(4).hex()}{_MERGED}"
    merged = folder / f"{name}.parquet"
    names = ", ".join(quoted(str(source)) for source in sources)
    # Templates are of one file: another one may have other constants.
    columns = f"log_group, {', '.join(LogEvent._fields)}, size"
    events = f"SELECT {columns} FROM read_parquet([{names}])"  # noqa: S608
    size = sum(source.stat().st_size for source in sources)
    select = sorted_events(events, size, templated_bytes)
    with parquet_of(select, merged.with_suffix(_UNFINISHED), threads=1) as unfinished:
        write_sources(merged, sources)
        # Without its list a merged segment would count beside its sources.
        sync_folder(folder)
        publish(unfinished, merged)


@contextmanager
def _merge_lock(folder: Path) -> Iterator[bool]:
    """Try to lock a folder for a merge, and yield whether this process has the lock."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def _age(path: Path, now: float) -> float:
    try:
        return now - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
