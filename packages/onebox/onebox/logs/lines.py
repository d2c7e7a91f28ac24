"""The events of a log group as JSON lines, each with a CRC-32 of its event as the last member."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from onebox.disk import open_regular

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
    """Return the event of a line; raise ValueError if the line is no event or is damaged."""
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
