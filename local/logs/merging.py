"""Merging: many small Parquet segments of a log group become one.

A list of the sources is written first, then the merged segment. The rename that gives the merged
segment its name is the moment from which it counts and its sources no longer do. They stay for a
while, since a reader in any process may have listed them before; the list stays longer, so that
whoever sees a source and the merged segment knows that they hold the same events.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from local.insights.values import quoted
from local.logs.parquet import parquet_of

FEWEST_FILES = 8
"""How many small segments there are before they are merged."""
_MERGED = "-merged"
_SOURCES = ".sources"
_UNFINISHED = ".tmp"


def superseded_by(file: Path) -> list[Path]:
    """Return the segments whose events a Parquet segment holds as well."""
    if not file.stem.endswith(_MERGED):
        return []
    try:
        names = json.loads(file.with_suffix(_SOURCES).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []  # removed, long after the last source was
    return [file.with_name(name) for name in names]


def merge_small(folder: Path, files: Sequence[Path], most_events: int) -> None:
    """Merge the small ones among Parquet segments, if there are many.

    Parameters
    ----------
    folder : Path
        The log group's folder.
    files : sequence of Path
        The segments that may be merged: they count, and nothing else holds their events.
    most_events : int
        How many events a merged segment takes; one with less than half of it is small.
    """
    with _only_one(folder) as free:
        # Another process may have merged some since they were listed.
        taken = {source for path in folder.glob(f"*{_MERGED}.parquet") for source in _all(path)}
        there = [file for file in files if file.exists() and file not in taken]
        if free and len(there) >= FEWEST_FILES:
            sources = _small(there, most_events)
            if len(sources) >= FEWEST_FILES:
                _merge(folder, sources)


def clear(folder: Path, kept_seconds: float) -> None:
    """Remove sources, some time after they were merged, and what a killed process left."""
    now = time.time()
    for path in folder.glob(f"*{_UNFINISHED}"):
        if _age(path, now) > kept_seconds:
            path.unlink(missing_ok=True)
    for path in folder.glob(f"*{_SOURCES}"):
        merged = path.with_suffix(".parquet")
        if not merged.exists():
            if _age(path, now) > kept_seconds:
                path.unlink(missing_ok=True)
            continue
        sources = [source for source in superseded_by(merged) if source.exists()]
        if _age(merged, now) > kept_seconds:
            for source in sources:
                source.unlink(missing_ok=True)
        if not sources and _age(merged, now) > 2 * kept_seconds:
            path.unlink(missing_ok=True)


def _all(merged: Path) -> list[Path]:
    """Return a merged segment's sources, and itself as long as it has some."""
    sources = superseded_by(merged)
    return [merged, *sources] if sources else []


def _small(files: Sequence[Path], most_events: int) -> list[Path]:
    """Return the oldest small segments that together are no more than one takes."""
    names = ", ".join(quoted(str(file)) for file in files)
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT file_name, num_rows FROM parquet_file_metadata([{names}])"  # noqa: S608
        ).fetchall()
    events = {Path(name): count for name, count in rows}
    found: list[Path] = []
    total = 0
    for file in files:
        total += events[file] if events[file] < most_events / 2 else 0
        if total > most_events:
            break
        if events[file] < most_events / 2:
            found.append(file)
    return found


def _merge(folder: Path, sources: Sequence[Path]) -> None:
    name = f"{time.time_ns():020d}-{os.getpid()}-{os.urandom(4).hex()}{_MERGED}"
    merged = folder / f"{name}.parquet"
    names = ", ".join(quoted(str(source)) for source in sources)
    select = f"SELECT * FROM read_parquet([{names}]) ORDER BY timestamp, id"  # noqa: S608
    with parquet_of(select, merged.with_suffix(_UNFINISHED), threads=1) as unfinished:
        listed = merged.with_suffix(f"{_SOURCES}{_UNFINISHED}")
        with listed.open("w", encoding="utf-8") as file:
            json.dump([source.name for source in sources], file)
            file.flush()
            os.fsync(file.fileno())
        listed.replace(merged.with_suffix(_SOURCES))
        unfinished.replace(merged)


@contextmanager
def _only_one(folder: Path) -> Iterator[bool]:
    """Hold the folder's lock, and tell whether no other process merges there."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(held)


def _age(path: Path, now: float) -> float:
    try:
        return now - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
