"""The log files below a folder, and the folders of log groups, with percent-encoded names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

SUFFIXES = (".log", ".txt", ".json", ".jsonl", ".ndjson", ".gz", ".bz2", ".zst")
"""The suffixes of log files in a folder; files without a suffix are logs, too."""
# CreateExportTask writes it to find out whether it may (AWS documentation, CloudWatch Logs: export
# log data to Amazon S3).
_WRITE_TEST = "aws-logs-write-test"
# Endings that rotations give the name of a log: app.log.1, app.log-20240602, app.log.2024-06-02.
_ROTATED = re.compile(r"\.(?:log|txt|json|jsonl|ndjson)[.-][0-9][0-9.T_-]*$")


class LogFilesError(Exception):
    """A path without logs, or a file that cannot be read."""


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield once each file that `log_files` reads.

    Raises
    ------
    LogFilesError
        If a folder holds no logs.
    """
    seen = set()
    for path in paths:
        below = _below(path) if path.is_dir() else [path]
        for file in below:
            if file not in seen:
                seen.add(file)
                yield file


def logs_below(folder: Path) -> list[Path]:
    """Return the log files below a folder."""
    return sorted(filter(_is_log, _files_below(folder, lambda _: None)))


def _files_below(folder: Path, unread: Callable[[OSError], object]) -> Iterator[Path]:
    """Yield the files below a folder; ``unread`` takes the error of each folder without access."""
    for parent, _, names in os.walk(folder, onerror=unread):
        paths = (os.path.join(parent, name) for name in names)  # noqa: PTH118
        yield from map(Path, filter(os.path.isfile, paths))  # Path.is_file raises without access


def is_rotated(path: Path, log: Path) -> bool:
    """Tell whether a rotation may have made a file of a log: app.log.1 of app.log."""
    rest = path.name.removeprefix(log.name)
    return path.parent == log.parent and path.name != rest and rest[:1] in (".", "-")


def _below(folder: Path) -> list[Path]:
    files = logs_below(folder)
    if not files:
        raise LogFilesError(
            f"{folder}: this folder holds no logs; a log ends in {', '.join(SUFFIXES)}"
        )
    return files


def _is_log(path: Path) -> bool:
    hidden = path.name.startswith(".") or path.name == _WRITE_TEST
    return not hidden and (path.suffix in ("", *SUFFIXES) or _ROTATED.search(path.name) is not None)


def skipped_below(folder: Path) -> list[Path]:
    """Return the files below a folder that no query reads, and the folders without access."""
    unread: list[Path] = []
    files = _files_below(folder, lambda error: unread.append(Path(error.filename)))
    skipped = [path for path in files if not _is_log(path) and path.name != _WRITE_TEST]
    return sorted(skipped + unread)


def folder_name(group: str) -> str:
    """Return the name of the folder of a log group."""
    # quote keeps dots, and a name of dots would be another folder.
    return quote(group, safe="").replace(".", "%2E")


def group_name(folder: str) -> str:
    """Return the name of the log group of a folder."""
    return unquote(folder)
