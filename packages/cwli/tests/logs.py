"""Events that a test writes, as a source of queries."""

import json
from collections import Counter
from pathlib import Path

from cwli.insights import EventSource
from cwli.insights.source import events_of
from cwli.insights.values import quoted

_COLUMNS = (
    "{timestamp: 'BIGINT', ingestion_time: 'BIGINT', log: 'VARCHAR', log_stream: 'VARCHAR', "
    "message: 'VARCHAR', ptr: 'VARCHAR'}"
)


class Logs:
    """The events of log groups as JSON lines, a file for each group."""

    def __init__(self, folder: Path, account: str = "123456789012") -> None:
        self._folder, self._account = folder, account
        self._numbers: Counter[str] = Counter()

    def append(self, group, stream, events, ingestion_time):
        """Append events, pairs of a time [ms since 1970-01-01 UTC] and a message."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._file(group).open("a", encoding="utf-8") as file:
            for timestamp, message in events:
                self._numbers[group] += 1
                event = {
                    "timestamp": timestamp,
                    "ingestion_time": ingestion_time,
                    "log": f"{self._account}:{group}",
                    "log_stream": stream,
                    # DuckDB would refuse a line with half of a surrogate pair.
                    "message": message.encode(errors="replace").decode(),
                    "ptr": f"{self._numbers[group]:012d}",
                }
                file.write(f"{json.dumps(event)}\n")

    def events(self, groups):
        """Return the events of groups that have some."""
        files = [file for file in map(self._file, groups) if file.exists()]
        return EventSource.union(map(self._source, files))

    def _file(self, group):
        return self._folder / f"{group.replace('/', '%2F')}.jsonl"

    def _source(self, file):
        lines = f"{quoted(str(file))}, format = 'newline_delimited', columns = {_COLUMNS}"
        names = ("timestamp", "ingestion_time", "log", "log_stream", "message", "ptr")
        return events_of(f"read_json({lines})", **{name: name for name in names})
