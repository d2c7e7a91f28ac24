"""The examination of stored log lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import duckdb

from onebox.disk import quarantine, read_regular
from onebox.doctor.finding import Finding
from onebox.logs.lines import LogStoreError, event_of
from onebox.logs.merging import SOURCES, superseded_by, write_sources
from onebox.logs.parquet import DIGEST, is_digest, problem_of, write_digest


def examine_logs(state: Path) -> Iterator[Finding]:
    """Yield each damaged file of the log groups of a state folder."""
    logs = state / "logs"
    for file in sorted(logs.glob(f"*/*{SOURCES}")):
        if problem := _problem_of_list(file):
            remedy = "writes it again from the segments that have the same lines"
            yield Finding(problem, remedy, partial(_list_sources, file, state))
    for file in sorted(logs.glob("*/*.parquet")):
        if problem := problem_of(file):
            yield _damaged_segment(file, problem, state)
    for file in sorted(logs.glob(f"*/*{DIGEST}")):
        if not is_digest(file) and not problem_of(file.with_suffix(".parquet")):
            remedy = "moves it aside and makes it again from its segment"
            problem = f"{file} is of no use: it is no SHA-256"
            yield Finding(problem, remedy, partial(_digest_again, file, state), harmless=True)
    for file in sorted(logs.glob("*/*.ndjson")):
        if numbers := [number for number, line in _lines(file) if not _is_event(line)]:
            yield _damaged_lines(file, f"line {numbers[0]} is not an event", state)


def _damaged_segment(file: Path, problem: str, state: Path) -> Finding:
    others = [other for other in _others(file) if other.exists()]
    source = f"are read from {others[0].name}" if others else "are lost"
    repair = partial(_set_aside, file, state, kept=bool(others))
    remedy = f"moves it aside; its log lines {source}"
    return Finding(f"{file} is damaged: {problem}", remedy, repair)


def _damaged_lines(file: Path, problem: str, state: Path) -> Finding:
    folded = file.with_suffix(".parquet")
    if folded.exists():
        problem = f"{file} is of no use: {problem}"
        remedy = f"moves it aside; its log lines are read from {folded.name}"
        repair = partial(_set_lines_aside, file, state)
        return Finding(problem, remedy, repair, harmless=True)
    remedy = "moves it aside and keeps its other lines"
    return Finding(f"{file} is damaged: {problem}", remedy, partial(_keep_events, file, state))


def _others(file: Path) -> list[Path]:
    """Return the files that have the events of a Parquet segment, too, if they are still there."""
    with suppress(LogStoreError):  # a finding of its own
        return [file.with_suffix(".ndjson"), *superseded_by(file)]
    return [file.with_suffix(".ndjson")]


def _problem_of_list(file: Path) -> str | None:
    try:
        superseded_by(file.with_suffix(".parquet"))
    except LogStoreError as error:
        return str(error).partition(";")[0]
    return None


def _list_sources(file: Path, state: Path) -> bool:
    """Write the list of a merged segment's sources again: the segments whose lines it all has."""
    quarantine(file, state)
    merged = file.with_suffix(".parquet")
    others = (other for other in file.parent.glob("*.parquet") if other != merged)
    # A merged segment that cannot be read is a finding of its own, and its sources count.
    with suppress(duckdb.Error):
        write_sources(merged, [other for other in others if _has_all_of(merged, other)])
    return True


def _has_all_of(merged: Path, source: Path) -> bool:
    with duckdb.connect() as connection:
        missing = connection.execute(
            "SELECT id FROM read_parquet(?) EXCEPT SELECT id FROM read_parquet(?) LIMIT 1",
            [str(source), str(merged)],
        ).fetchone()
    return missing is None


def _set_aside(file: Path, state: Path, *, kept: bool) -> bool:
    quarantine(file, state)
    digest = file.with_suffix(DIGEST)
    if digest.exists():
        quarantine(digest, state)
    return kept


def _digest_again(file: Path, state: Path) -> bool:
    quarantine(file, state)
    if (segment := file.with_suffix(".parquet")).exists():
        write_digest(segment)
    return True


def _set_lines_aside(file: Path, state: Path) -> bool:
    quarantine(file, state)
    return True


def _keep_events(file: Path, state: Path) -> bool:
    events = [line for _, line in _lines(file) if _is_event(line)]
    quarantine(file, state)
    file.write_bytes(b"".join(line + b"\n" for line in events))
    return False


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered whole lines; an append that was cut off does not count."""
    *lines, _cut_off = read_regular(file).split(b"\n")
    return iter(enumerate(lines, 1))


def _is_event(line: bytes) -> bool:
    try:
        event_of(line)
    except ValueError:
        return False
    return True
