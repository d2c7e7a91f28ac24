"""One log file: its form, and the clock of its times, as its first bytes show them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, NamedTuple

from stringzilla import find

from cwli.readers.clocks import S3_EXPORT, Clock, clock_of, flow_log_clock, headers
from cwli.readers.folders import EVENT_FIELDS, LogFilesError
from cwli.readers.likely_times import likely_time
from cwli.readers.lines import MARK, encoding_of, first_lines
from cwli.readers.packing import INCOMPLETE, Packing, packing_of, reason, unpacked

PEEKED_BYTES = 2 * 1024 * 1024
"""The bytes at the beginning of a file that choose its form."""
MOST_AT_ONCE = 64 * 1024 * 1024
"""The size of a JSON document up to which it is read at once, in several times this memory [B]."""
MOST_OBJECT = 16 * 1024 * 1024
_CLOCK_PEEKED = 64 * 1024
_CLOCK_OBJECTS = 100
_CHUNK = 1024 * 1024
_WITHIN = re.compile(rb"\r[^\r\n]")
LOGGED_FIELDS = {**EVENT_FIELDS, "@log": "VARCHAR"}
"""The fields of events in copies, which also have their log group as ``account:group``."""
_PAIRS = r'\s*\{\s*(?:"\w+"\s*:\s*(?:"[^"]*"|\[[^\[\]{}]*\])\s*,\s*)*'
_ANSWER = re.compile(rf'{_PAIRS}"events"\s*:\s*\[\s*')
# AWS documentation, CloudTrail: log file examples.
_RECORDS = re.compile(
    r'\s*\{\s*"Records"\s*:\s*\[\s*\{(?=.*?"event(?:Time|Version)"\s*:)', re.DOTALL
)
# AWS documentation, CloudWatch Logs: log group-level subscription filters.
_DELIVERY = re.compile(rf'{_PAIRS}"messageType"\s*:\s*"(?:DATA|CONTROL)_MESSAGE"')
# AWS documentation, CloudWatch Logs API: GetQueryResults.
_RESULTS = re.compile(rf'{_PAIRS}"results"\s*:\s*\[\s*(?:\]|\[\s*\{{\s*"field"\s*:)')
_JSON = re.compile(r"\s*[{\[]")
_ARRAY = re.compile(r'\s*\[\s*\{\s*"')
_OBJECT_OVER_LINES = re.compile(r'\s*\{[ \t]*\r?\n\s*"[^"\n]*"\s*:')
_NAMES = re.compile(r'"?[A-Za-z_][\w .()-]*"?(?:,"?[A-Za-z_][\w .()-]*"?)+')
_BETWEEN_OBJECTS = re.compile(r"[\s,\[]*")
EVENT_COLUMNS = ["timestamp", "message"]
"""The columns of the events of a log stream."""
RESULT_FIELDS = {"@timestamp", "@message", "@logStream", "@log", "@ingestionTime", "@ptr"}
# AWS documentation, CloudWatch Logs: stats, functions.
_FUNCTION = re.compile(
    r"(?:bin|avg|count|count_distinct|earliest|latest|max|median|min|pct|sortsFirst|sortsLast|"
    r"stddev|sum)\(.*\)"
)
_LONGEST_HEAD = 10_000
# An export to S3 has a folder for each log stream (AWS documentation, CloudWatch Logs).
_EXPORTED = re.compile(r"[0-9]{6}(?:\.gz)?")


class Form(Enum):
    """The form of the events in a file."""

    TEXT = "lines of text"
    EVENTS = "an event of CloudWatch Logs as a JSON object on each line"
    ANSWER = "what aws logs filter-log-events or get-log-events prints"
    RECORDS = "a file of CloudTrail"
    DELIVERY = "what a subscription of CloudWatch Logs delivers, such as to Firehose"
    LISTED = "events of CloudWatch Logs in a JSON array"
    DOWNLOAD = "what the console of CloudWatch Logs downloads: CSV"
    RESULTS = "what aws logs get-query-results prints, or its rows as a JSON array"
    OBJECTS = "JSON objects, in an array or each over several lines"


_BEGINNINGS = {Form.RECORDS: _RECORDS, Form.DELIVERY: _DELIVERY, Form.RESULTS: _RESULTS}
TABLES = (Form.DOWNLOAD, Form.RESULTS)
"""The forms whose rows a copy has as events."""
TIMED_BY_CLOCKS = (Form.TEXT, Form.OBJECTS)
"""The forms whose events have their times in a way that a clock reads."""


class LogFile(NamedTuple):
    """A file, as its first bytes show it."""

    original: Path
    """The file that the user names."""
    name: str
    """The name of the file for the user, its ``@log``."""
    path: Path
    """The file to read: the original, or a copy."""
    form: Form
    size: int
    change_time: int
    """The time of the last change [ms since 1970-01-01 UTC]."""
    clock: Clock | None
    """The form of the times in lines of text; None if the lines have none that is known."""
    packing: Packing
    encoding: str
    returns: bool
    """Whether lines of text end in CR LF; only LF ends the lines of a copy."""
    headers: int
    """The number of the first lines that name columns, as in a flow log that S3 has."""
    is_joined: bool
    """Whether each line is an event, also one without a time, as in a copy."""
    is_timed: bool
    """Whether one of the first lines has a time that the clock reads."""
    timed_later: str
    """The first of these lines if others are before it, else ''."""
    likely: str
    """The likely time of its first lines and the option that reads it, '' if a clock reads them."""
    note: str
    """The remark about its events that people should read, '' without one."""

    @property
    def kind(self) -> tuple[object, ...]:
        """The properties that files must share for one reader."""
        return (
            self.clock, self.packing, self.encoding, self.returns, self.headers, self.is_joined,
            self.is_timed,
        )  # fmt: skip

    def has_marks(self) -> bool:
        """Tell whether this is a copy with code points for line ends within events."""
        return self.is_joined and any(find(chunk, MARK) >= 0 for chunk in _overlapping(self.path))

    def check_returns(self) -> None:
        """Raise LogFilesError if a carriage return is within a line, and does not end it."""
        if any(_WITHIN.search(chunk) for chunk in _overlapping(self.path)):
            raise LogFilesError(f"{self.path}: a carriage return is within a line")


def _overlapping(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in chunks, each after the last two bytes of the one before."""
    last = b""
    with opened(path) as file:
        while chunk := file.read(_CHUNK):
            chunk = last + chunk
            yield chunk
            last = chunk[-2:]


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its unpacked bytes.

    Raises
    ------
    LogFilesError
        If the file cannot be opened or read.
    """
    try:
        with unpacked(path) as file:
            yield file
    except INCOMPLETE as error:
        raise LogFilesError(f"{path}: this file cannot be read: {reason(error)}") from None


def inspect(
    original: Path,
    path: Path,
    clock: Clock | None,
    *,
    is_joined: bool,
    name: str = "",
    before: Clock | None = None,
) -> LogFile:
    """Return a file as its first bytes show it, read from ``path``; its name is else its path.

    The clock of the file ``before`` is tried first if the user names none.

    Raises
    ------
    LogFilesError
        If the file cannot be read.
    """
    with opened(path) as file:
        status = original.stat()
        encoding = encoding_of(file)
        is_plain = isinstance(file, BufferedReader)
        # Python takes memory for all that it may read, ten times as long as it reads a small file.
        most = status.st_size + 1 if is_plain and path is original else PEEKED_BYTES
        begin = file.read(min(most, PEEKED_BYTES)).decode(encoding, errors="replace")
    form = form_of(begin)
    is_json = form is Form.OBJECTS
    first = _first_objects(begin) if is_json else first_lines(begin[:_CLOCK_PEEKED])
    clock = clock or clock_in(original, first, before)
    timed = next(filter(clock.fits, first), "") if clock else ""
    return LogFile(
        original,
        name or str(original),
        path,
        form,
        status.st_size,
        change_time=status.st_mtime_ns // 1_000_000,
        clock=clock if form in TIMED_BY_CLOCKS else None,
        packing=Packing.NONE if is_plain else packing_of(path),
        encoding=encoding,
        returns=form is Form.TEXT and "\r" in begin,
        headers=headers(first) if form is Form.TEXT else 0,
        is_joined=is_joined,
        is_timed=timed != "",
        timed_later="" if first[:1] == [timed] else timed,
        likely="" if timed or form not in TIMED_BY_CLOCKS else likely_time(first),
        note=_note(form, begin, first, timed),
    )


def _note(form: Form, begin: str, first: Sequence[str], timed: str) -> str:
    """Return a remark for people about the events in a file, '' without one."""
    if form is Form.TEXT and _names_columns(first):
        return "its first line, which names columns, is an event"
    if form in TIMED_BY_CLOCKS and not timed and (name := _list_within(begin)):
        member = name if name.isidentifier() else json.dumps(name)
        return (
            f"it is one JSON object, and one event; `jq -c '.{member}[]'` makes events of the "
            f"list {name!r} in it"
        )
    return ""


def _names_columns(first: Sequence[str]) -> bool:
    """Tell whether the first line names the columns of the next two, by commas."""
    if len(first) < 3 or not _NAMES.fullmatch(first[0]):
        return False
    number = first[0].count(",")
    return all(line.count(",") >= number and not _NAMES.fullmatch(line) for line in first[1:3])


def _list_within(begin: str) -> str:
    """Return the name of a list of objects in a file of one object, '' without one."""
    text = begin.strip()
    try:
        value, end = json.JSONDecoder().raw_decode(text) if text.startswith("{") else (None, 0)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict) or end < len(text):
        return ""
    lists = (name for name, each in value.items() if isinstance(each, list) and each)
    return next((name for name in lists if all(isinstance(one, dict) for one in value[name])), "")


def clock_in(original: Path, first: Sequence[str], before: Clock | None = None) -> Clock | None:
    """Return the clock of the first lines of a file, None if they have none that is known.

    The clock of the file ``before`` is tried first.
    """
    is_export = _EXPORTED.fullmatch(original.name) and any(map(S3_EXPORT.fits, first[:1]))
    if is_export:
        return S3_EXPORT
    return flow_log_clock("".join(first[:1])) or clock_of(first, before)


def form_of(begin: str) -> Form:
    """Return the form of the events in a file, of its first characters."""
    if not _JSON.match(begin):
        return Form.DOWNLOAD if _is_table(begin) else Form.TEXT
    for form, pattern in _BEGINNINGS.items():
        if pattern.match(begin):
            return form
    if (answer := _ANSWER.match(begin)) and _is_logged(begin, answer.end()):
        return Form.ANSWER
    if _is_array(begin):
        first = _value_at(begin, begin.index("{"))
        is_row = isinstance(first, dict) and "@message" in first
        return Form.RESULTS if is_row else Form.LISTED if is_event(first) else Form.OBJECTS
    if _OBJECT_OVER_LINES.match(begin):
        return Form.OBJECTS
    first_line = begin.lstrip().partition("\n")[0]
    return Form.EVENTS if is_event(_value_at(first_line, 0)) else Form.TEXT


def list_begin(begin: str) -> int:
    """Return the place behind the bracket of the list in an answer, or in a file of CloudTrail."""
    answer = _ANSWER.match(begin)
    return answer.end() if answer else begin.index("[") + 1


def _is_logged(begin: str, place: int) -> bool:
    """Tell whether events of CloudWatch Logs are at a place, also none or one that is cut off."""
    event = _value_at(begin, place)
    return event is None or is_event(event)


def is_event(value: object) -> bool:
    """Tell whether a value of JSON is an event of CloudWatch Logs.

    JSON lines of an application have other fields, or a time that is a text.
    """
    return (
        isinstance(value, dict)
        and value.keys() <= LOGGED_FIELDS.keys()
        and isinstance(value.get("timestamp"), int)
        and isinstance(value.get("message"), str)
    )


def _value_at(text: str, place: int) -> object:
    """Return the value of JSON that begins at a place, None without one."""
    try:
        return json.JSONDecoder().raw_decode(text, place)[0]
    except (ValueError, RecursionError):
        return None


def _is_array(begin: str) -> bool:
    """Tell whether a text begins as one array of objects, and not as a line with one."""
    if not _ARRAY.match(begin):
        return False
    text = begin.strip()
    try:
        _, end = json.JSONDecoder().raw_decode(text.partition("\n")[0])
    except (ValueError, RecursionError):
        return True
    return end == len(text)


def _first_objects(begin: str) -> list[str]:
    """Return the first JSON objects in an array or one after the other, each on one line."""
    found: list[str] = []
    read, place = json.JSONDecoder().raw_decode, 0
    while len(found) < _CLOCK_OBJECTS:
        between = _BETWEEN_OBJECTS.match(begin, place)
        try:
            value, place = read(begin, between.end() if between else place)
        except (ValueError, RecursionError):
            break
        found.append(json.dumps(value))
    return found


def _is_table(begin: str) -> bool:
    """Tell whether a text begins with the columns of a downloaded table."""
    first = begin[:_LONGEST_HEAD].partition("\n")[0].rstrip("\r")
    try:
        names = next(csv.reader([first]), [])
    except csv.Error:
        return False
    return names == EVENT_COLUMNS or any(
        each in RESULT_FIELDS or _FUNCTION.fullmatch(each) for each in names
    )
