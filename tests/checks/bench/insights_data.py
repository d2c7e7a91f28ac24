"""Five million log lines for the seed's query, made once and kept out of git."""

from __future__ import annotations

from pathlib import Path

import duckdb

from onebox.logs.event_files import parquet_of, publish
from onebox.logs.segments import SEGMENT_EVENTS
from onebox.logs.templates import LEAST_BYTES, sorted_events

LINES = 5_000_000
NO_TEMPLATES = 2**62
"""More bytes than any file has."""
FOLDER = Path(__file__).parents[3] / ".bench"

_RATE = "printf('%.1f', 100000 + (hash(i, 1) % 1310150) / 10.0)"
_INGEST = (
    "'[sdk-async-response-1-3] core.metrics.MetricsLogger INFO  - Wrote ' || hash(i, 2) % 10**8 "
    "|| ' records to S3 in ' || printf('%.1f', (hash(i, 3) % 4000) / 10.0) || ' seconds at ' "
    f"|| {_RATE} || ' per second'"
)
_DECOY = (
    "'[main] hadoop.fs.S3AFileSystem DEBUG  - Uploading part ' || hash(i, 4) % 10000 "
    "|| ' of data/' || md5(i::VARCHAR) || ' to S3A bucket, no rate in here'"
)
_COMPACTION = (
    "'[main] core.metrics.MetricsLogger INFO  - Compaction job ' || left(md5(i::VARCHAR), 14) "
    f"|| ': compaction read ' || hash(i, 2) % 10**8 || ' records at ' || {_RATE} || ' per second'"
)
_OTHER = (
    "'[sdk-async-response-1-3] statestore.TransactionLogStateStore DEBUG  - Applied transaction ' "
    "|| left(md5(i::VARCHAR), 16) || ' in ' || hash(i, 5) % 1000 || ' ms'"
)
_KINDS = {
    # A fifth are rate lines; an eighth pass the filter but are not rate lines.
    "mix": (
        f"CASE WHEN hash(i) % 100 < 20 THEN {_INGEST} WHEN hash(i) % 100 < 33 THEN {_DECOY} "
        f"WHEN hash(i) % 100 < 50 THEN {_COMPACTION} ELSE {_OTHER} END"
    ),
    "all": _INGEST,
}
KINDS = tuple(_KINDS)


def lines_sql(kind: str, lines: int) -> str:
    """Return the SELECT of the number ``i`` and the ``message`` of lines of a kind."""
    return f"SELECT i, {_KINDS[kind]} AS message FROM range({lines}) numbers(i)"


def text_of(kind: str, times: int = 1) -> Path:
    """Return the file with ``times`` × `LINES` lines of a kind; make it if it is missing."""
    lines = f"SELECT message FROM ({lines_sql(kind, times * LINES)})"
    return written(FOLDER / f"{kind}-{times}.log", lines)


def written(path: Path, lines: str) -> Path:
    """Return a file with the lines of a SELECT of one column; write it if it is missing."""
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        unfinished = path.with_suffix(".tmp")
        duckdb.execute(
            f"COPY ({lines}) TO '{unfinished}' "
            "(FORMAT csv, HEADER FALSE, DELIMITER '\x01', QUOTE '', ESCAPE '')"
        )
        unfinished.rename(path)
    return path


def store_of(kind: str, lines: int = LINES, templated_bytes: int = LEAST_BYTES) -> Path:
    """Return the folder of a log store with lines of a kind, a millisecond apart."""
    form = "templates" if templated_bytes < NO_TEMPLATES else "messages"
    folder = FOLDER / f"{kind}-{lines}-{form}"
    if not folder.exists():
        unfinished = folder.with_suffix(".tmp")
        (group := unfinished / "bench").mkdir(parents=True, exist_ok=True)
        for first in range(0, lines, SEGMENT_EVENTS):
            events = _events_sql(kind, first, min(first + SEGMENT_EVENTS, lines))
            select = sorted_events(events, SEGMENT_EVENTS * 100, templated_bytes)
            file = group / f"{first:012d}.parquet"
            with parquet_of(select, file.with_suffix(".tmp"), threads=1) as written_file:
                publish(written_file, file)
        unfinished.rename(folder)
    return folder


def _events_sql(kind: str, first: int, end: int) -> str:
    return (
        "SELECT 'bench' AS log_group, lpad(i::VARCHAR, 12, '0') AS id, i AS timestamp, "
        f"i AS ingestion_time, 'task/' || i // {LINES // 8} AS log_stream, message, "
        f"strlen(message) AS size FROM ({lines_sql(kind, end)}) WHERE i >= {first}"
    )
