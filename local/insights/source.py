"""Where the events of a query come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from local.insights.values import quoted


@dataclass(frozen=True)
class EventSource:
    """Events that DuckDB can read.

    Attributes
    ----------
    sql : str
        A SELECT of the columns ``timestamp`` and ``ingestion_time`` (BIGINT, milliseconds since
        1970-01-01 UTC), ``log`` (``account:group``), ``log_stream``, ``message`` and ``ptr``
        (VARCHAR; ``ptr`` is unique, and sorts as the events were written).
    """

    sql: str

    @classmethod
    def union(cls, sources: Iterable[EventSource]) -> EventSource:
        """Return the events of all sources; none if there is none."""
        return cls(" UNION ALL ".join(source.sql for source in sources) or _NOTHING)


def events_of(
    table: str,
    *,
    timestamp: str,
    ingestion_time: str,
    log: str,
    log_stream: str,
    message: str,
    ptr: str,
) -> EventSource:
    """Return the rows of an SQL table, or of what follows FROM, as events.

    The columns are SQL expressions.
    """
    return EventSource(
        f"SELECT {timestamp} AS timestamp, {ingestion_time} AS ingestion_time, {log} AS log, "  # noqa: S608 (texts are quoted by those who call)
        f"{log_stream} AS log_stream, {message} AS message, {ptr} AS ptr FROM {table}"
    )


_NOTHING = events_of(
    "(SELECT 0::BIGINT AS number, '' AS text) WHERE FALSE",
    timestamp="number",
    ingestion_time="number",
    log="text",
    log_stream="text",
    message="text",
    ptr="text",
).sql


def text_file(path: Path) -> EventSource:
    """Return the lines of a UTF-8 text file as events.

    They have the time of the file's last change, since a line says nothing of its own; ``@log`` is
    the path and ``@logStream`` the file's name. The file is read into memory.
    """
    changed = f"{path.stat().st_mtime_ns // 1_000_000}::BIGINT"
    # Whole and split at line feeds: DuckDB's CSV reader would also split at a carriage return.
    lines = (
        "(SELECT unnest(lines) AS line, generate_subscripts(lines, 1) AS number, "  # noqa: S608
        "len(lines) AS last FROM (SELECT string_split(content, chr(10)) AS lines "
        f"FROM read_text({quoted(str(path))}))) WHERE number < last OR line <> ''"
    )
    return events_of(
        lines,
        timestamp=changed,
        ingestion_time=changed,
        log=quoted(str(path)),
        log_stream=quoted(path.name),
        message="rtrim(line, chr(13))",
        ptr="lpad(number::VARCHAR, 12, '0')",
    )
