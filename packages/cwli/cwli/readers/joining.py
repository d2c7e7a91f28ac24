"""Events of several lines, such as stack traces, each written as one line of a copy.

In a copy, code points that no text has (Unicode, section 23.7: noncharacters) stand for the line
feeds and the carriage returns within an event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cwli.insights.values import quoted
from cwli.readers.clocks import Beginning

_FEED, _RETURN = "\U000fffff", "\U000ffffe"
_FEED_BYTES = _FEED.encode()
MARKS = _FEED + _RETURN
"""The code points that stand for line ends."""
MARK = b"\xf3\xbf\xbf"
"""The bytes with which both begin in UTF-8."""


class Joining:
    """The joining of lines to events.

    Parameters
    ----------
    begins : callable
        Tells whether a line begins an event. Any other line belongs to the event before, if an
        event has begun and this line does not make it too large.
    most_bytes : int
        The maximum size of an event in a copy [B].
    """

    def __init__(self, begins: Beginning, most_bytes: int) -> None:
        self._begins = begins
        self._most_bytes = most_bytes
        self.joined = 0
        """The number of lines that belong to an event before."""

    def events(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield each event as one line, perhaps empty ones; no line has a line end."""
        event: list[bytes] = []
        size = 0
        has_begun = False
        for line in lines:
            begins = self._begins(line)
            size += len(line) + len(_FEED_BYTES)
            if begins or not has_begun or size > self._most_bytes:
                yield self._written(event)
                event, size = [], len(line)
            event.append(line)
            has_begun = has_begun or bool(begins)
        yield self._written(event)

    def _written(self, event: list[bytes]) -> bytes:
        """Return the line of an event, without the empty lines after it; b"" if it is empty."""
        while event and not event[-1]:
            event.pop()
        if len(event) > 1:
            self.joined += len(event) - 1
        return _FEED_BYTES.join(event)


def last_event(lines: bytes | bytearray, begins: Beginning, size: int | None = None) -> int:
    """Return the place at which the last event begins, 0 if no line begins one.

    A line without an end is none yet, and begins no event. Bytes after ``size`` do not count.
    """
    end = place = lines.rfind(b"\n", 0, size) + 1
    while place:
        place = lines.rfind(b"\n", 0, end - 1) + 1
        if begins(bytes(lines[place:end]).rstrip(b"\r\n")):
            break
        end = place
    return place


def without_returns(line: bytes) -> bytes:
    """Return a line with the stand-in of its carriage returns."""
    return line.replace(b"\r", _RETURN.encode())


def first_lines(text: str) -> list[str]:
    """Return the lines of a text, of a copy the first line of each event."""
    return [line.partition(_FEED)[0].rstrip("\r") for line in text.split("\n")]


def first_line(line: str) -> str:
    """Return SQL for the first line of an event, of SQL for its line in a copy."""
    return f"split_part({line}, '{_FEED}', 1)"


def whole(line: str) -> str:
    """Return SQL for the text of an event, of SQL for its line in a copy."""
    text = f"translate({line}, {quoted(MARKS)}, chr(10) || chr(13))"
    # DuckDB's translate takes 50 times as long as a search.
    marked = " OR ".join(f"contains({line}, '{mark}')" for mark in MARKS)
    return f"CASE WHEN {marked} THEN {text} ELSE {line} END"
