"""Clocks: the forms in which the lines of a log have their time.

A file has one clock, which most of its first lines fit. The time zone is UTC if a line
names none. Forms without a year are of the year before the file's last change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import islice, takewhile
from typing import NamedTuple

from cwli.insights.values import quoted

# PostgreSQL writes an offset of whole hours as " -03 [", as in America/Sao_Paulo. Behind
# a blank alone it may be a number.
_HOURS = r"[+-](?:0\d|1[0-4])"
_REST = rf"(?:[.,](\d{{1,6}})\d*)?( ?Z| ?{_HOURS}:?[0-5]\d\b|{_HOURS}\b| {_HOURS} \[)?"
_ISO = rf"(\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d){_REST}"
# The texts that may stand before a time in ISO 8601 whose characters have known places.
_BEGINNINGS = ("^", r"^\[?")
# Epochs from 2001 to 2286, in seconds, milliseconds, microseconds or nanoseconds.
_EPOCH = r"[1-9]\d{9}(?:\.\d+|\d{3}|\d{6}|\d{9})?"
_BLANKS = r"^[ \t]"
# Brackets around a name: the line has the time in brackets.
_BRACKETS = r"\[[^\]\d\n][^\]\n]*\]"
_LEVEL = "(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)"
_SMALL_LEVEL = "(?:trace|debug|info|notice|warn|warning|error|critical|fatal)"
MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_FIELDS = (
    "@timestamp", "timestamp", "time", "ts", "eventTime", "datetime", "date", "asctime", "t",
    "@t", "t.$date", "Timestamp", "__REALTIME_TIMESTAMP", "time_iso8601", "start_time", "StartUTC",
    "timeMillis", "requestTimeEpoch", "requestReceivedTimestamp", "_aws.Timestamp",
    "query_timestamp", "timeUnixNano", "event_timestamp", "event_time", "Time", "created_at",
)  # fmt: skip
_COMMON_LOG = "%d/%b/%Y:%H:%M:%S %z"
_OTHER = {"time": "timestamp", "timestamp": "time", "timeUnixNano": "observedTimeUnixNano"}
"""The fields with the time of lines that lack a field."""
# Fields of nginx and API Gateway, which have the time in the common log format.
_COMMON_LOG_FIELDS = ("time_local", "requestTime")
_WRAPPED = "log"
"""The field in which FireLens and Docker have the line of a program."""
_ANY_FIELD = "|".join(field.partition(".")[0] for field in (*_FIELDS, *_COMMON_LOG_FIELDS))
LETTERS = {
    "Y": r"\d{4}", "y": r"\d\d", "m": r"\d\d", "b": "[A-Za-z]{3}", "d": r"[ \d]\d", "j": r"\d{3}",
    "H": r"\d\d", "I": r"\d\d", "p": "[AaPp][Mm]", "M": r"\d\d", "S": r"\d\d", "f": r"\d{1,6}",
    "z": r"[+-]\d\d:?\d\d",
}  # fmt: skip
"""The letters of strptime that a format of times may have, and their patterns."""
_YEARS, _DATE = {"Y", "y"}, {"Y", "y", "m", "b", "d", "j"}
# Names of zones after a time, and the abbreviations that PostgreSQL writes; several zones
# share some.
_ZONES = (
    r"(?:GMT|UTC)[+-]\d{1,2}|[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+|"
    "[CEMP][DS]T|[CEW]ET|[CEW]EST|MSK|BST|I[DS]T|[HJK]ST|A[CEW][DS]T|NZ[DS]T|SAST"
)
_MINUTE, _DAY = 60_000, 86_400_000  # [ms]
# The clocks of UTC+14 are the furthest ahead of UTC.
_MOST_AHEAD = 14 * 60 * _MINUTE
ANYTHING = "*"
"""The sign in a format that stands for any text before the time."""
_ZONE = re.compile(rf"(?:[.,]\d+)? ?\[?({_ZONES})\b")
"""The name of a zone behind the seconds of a time, with their fraction."""
# The lines that choose the clock of a file.
_LINES = 200
# The lines that show whether a log names a zone.
_ZONED_LINES = 20

Beginning = Callable[[bytes | bytearray], object]
"""Tells whether a line begins an event."""


class Clock(NamedTuple):
    """A form of times.

    Attributes
    ----------
    name : str
        The form, for people.
    pattern : str
        A regular expression of both Python and RE2. Its group 1 is the time; of ISO 8601, groups 2
        and 3 are the fraction and the zone. '' for a JSON field.
    form : str
        ``iso``, ``epoch``, or a format of DuckDB's strptime; '' for either of the first two.
    field : str
        The JSON field that holds the time, '' without one. Dots are part of its name, or else lead
        into nested fields.
    prefix : str
        A regular expression of the text that an export writes before each message, '' without
        one. Its group 1, if it has one, is the log stream.
    other : str
        The JSON field that holds the time of the other lines, '' without one.
    within : str
        The JSON field whose text has such a line, '' if the line itself is one.
    second : tuple of str
        The pattern and the form of lines with times of a second form; empty without one.
    likes : tuple of str
        Patterns of LIKE: every line with such a time fits one of them, and hardly any other line;
        empty if only the regular expression tells.
    """

    name: str
    pattern: str
    form: str
    field: str = ""
    prefix: str = ""
    other: str = ""
    within: str = ""
    likes: tuple[str, ...] = ()
    second: tuple[str, str] | tuple[()] = ()

    @property
    def description(self) -> str:
        """The form for people, with the parts of a date that its times lack."""
        if self.form in ("", "iso", "epoch"):
            return self.name
        letters = _letters(self.form)
        assumed = [] if letters & _YEARS else ["of the year up to the file's last change"]
        if not letters & _DATE:
            assumed = ["of the day up to the file's last change"]
        assumed += [] if "z" in letters else ["read as UTC"]
        return f"{self.name} ({', '.join(assumed)})" if assumed else self.name

    def message(self, line: str) -> str:
        """Return SQL for the message of a line: the line without the prefix of an export."""
        return f"regexp_replace({line}, {quoted(self.prefix)}, '')" if self.prefix else line

    def stream(self, line: str) -> str:
        """Return SQL for the log stream of a line, null if the line does not name it."""
        if "(" not in self.prefix:
            return "NULL"
        return f"nullif(regexp_extract({line}, {quoted(self.prefix)}, 1), '')"

    def test(self) -> Callable[[str], object]:
        """Return a faster test of whether a line has a time of this form."""
        is_plain = not (self.field or self.prefix or self.within)
        return _searcher(self.pattern) if is_plain else self.fits

    def fits(self, line: str) -> bool:
        """Tell whether a line has a time of this form."""
        if self.within:
            return self._inner.fits(str(_value(line, self.within)))
        if not self.field:
            return bool(_searcher(self.pattern)(line) and _searcher(self.prefix)(line))
        pattern = format_clock(self.form).pattern if self.form else rf"\A(?:{_ISO}|{_EPOCH}$)"
        fields = filter(None, (self.field, self.other))
        values = (str(_value(line, field)) for field in fields)
        return any(map(_searcher(pattern), values))

    def begins(self, line: str) -> str:
        """Return SQL that is false for a line that belongs to the event before.

        Every query asks it of every line, so it is short rather than strict: LIKE takes a quarter
        of the time of a regular expression. A line that only looks like a time stays an event.
        """
        if self.field or self.within:
            return f"starts_with({line}, '{{')"
        likes = " OR ".join(f"{line} LIKE {quoted(pattern)}" for pattern in self.likes)
        return likes or f"regexp_matches({line}, {quoted(self.pattern)})"

    def sql(self, line: str, change_time: str) -> str:
        """Return SQL for the time of a line [ms since 1970-01-01 UTC], null without one.

        Parameters
        ----------
        line, change_time : str
            The column of the line, and SQL for the last change of its file [ms].
        """
        if self.within:
            text = f"TRY(json_extract_string({line}, {quoted(_pointers(self.within)[0])}))"
            return once(text, self._inner.sql("t", change_time))
        if self.field and not self.form:
            time = once(self._text(line), _iso_or_epoch("t"))
            if not self.other:
                return time
            return f"coalesce({time}, {field_clock(self.other).sql(line, change_time)})"
        if self.form == "iso":
            return _iso(line, self.pattern)
        text = self._text(line)
        if self.form == "epoch":
            return _epoch(text)
        return _dated(text, self.form, change_time)

    def other_sql(self, line: str, change_time: str) -> str:
        """Return SQL for the time of a line that has one in another form, null without one.

        The line has it in the second form, or else in ISO 8601 or in a field of JSON, wherever
        another clock would find it.
        """
        if self.prefix:  # a message of an export may begin with a time of its own
            return "NULL"
        times = [_iso(line, _any_iso())]
        if self.second:
            times.insert(0, Clock("", *self.second).sql(line, change_time))
        if not self.field:
            times.append(_any_field(line))
        return f"coalesce({', '.join(times)})"

    @property
    def _inner(self) -> Clock:
        """The clock of the lines within the field."""
        return self._replace(within="")

    def _text(self, line: str) -> str:
        """Return SQL for the text of the time in a line."""
        if self.field:
            pointers = dict.fromkeys(_pointers(self.field))
            texts = (f"TRY(json_extract_string({line}, {quoted(each)}))" for each in pointers)
            return f"coalesce({', '.join(texts)})"
        return f"regexp_extract({line}, {quoted(self.pattern)}, 1)"


_ISO_LIKES = ("____-__-__%", "[____-__-__%")
# AWS documentation, CloudWatch Logs: export log data to Amazon S3.
S3_EXPORT = Clock(
    "export to S3",
    rf"^{_ISO} ",
    "iso",
    prefix=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ",
    likes=("____-__-__T%Z %",),
)
_LAMBDA_LINE = r"^(?:START|END|REPORT) RequestId: "
"""A line that Lambda writes, and which has no time where a console or ``sam local`` shows it."""
_LAMBDA_PREFIX = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3}Z)? "
_LAMBDA_TIMED = re.compile(
    rf"{_LAMBDA_PREFIX}(?:(?:START|END|REPORT) RequestId|INIT_START Runtime Version): "
)
LAMBDA = S3_EXPORT._replace(
    name="export of Lambda's lines", prefix=_LAMBDA_PREFIX, likes=("____-__-__T%",)
)
"""The form of ``aws logs tail --format short``, and of an export to S3 outside its folder."""
FLOW_LOG = Clock(
    "VPC flow log", r"^\d+ (?:\d{12}|unknown) eni-(?:\S+ ){8}(\d{10}) ", "epoch", likes=("% eni-%",)
)
# AWS documentation, Amazon VPC: flow log records.
_DEFAULT_COLUMNS = (
    "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start"
)
_COLUMN = re.compile("[a-z][a-z0-9-]*").fullmatch
# The directives that begin the logs of CloudFront and IIS (W3C, extended log file format).
_DIRECTIVES = re.compile("#(?:Version|Software): ").match
CLOCKS = (
    Clock("aws logs tail", rf"^{_ISO} \S*/\S* ", "iso", prefix=(
        r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?\+00:00 (\S*/\S*) "
    ), likes=("____-__-__T%+00:00 %",)),
    # The command awslogs, with --timestamp: log group, stream, time. One of the names has a slash.
    Clock("awslogs", rf"^(?:/\S* +\S+|[^\s/]+ +\S+/\S*) +{_ISO} ", "iso", prefix=(
        r"^(?:/\S* +|[^\s/]+ +)(\S+) +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z "
    )),
    Clock("ISO 8601 at the beginning", rf"^\[?{_ISO}", "iso", likes=_ISO_LIKES),
    Clock(
        "ISO 8601 after a level",
        rf"^\[?(?:[A-Z]{{4,8}}[\]:]?|[DIWEFA],|{_SMALL_LEVEL})[ \t]+"
        rf"(?:{_BRACKETS}[ \t]+)?\[?{_ISO}",
        "iso",
    ),
    Clock("ISO 8601 after blanks", rf"{_BLANKS}+\[?{_ISO}", "iso"),
    Clock("ISO 8601 after brackets", rf"^{_BRACKETS}[ \t]+\[?{_ISO}", "iso"),
    Clock("ISO 8601 after a weekday", rf"^\w{{3}} {_ISO}", "iso", likes=("___ ____-__-__ %",)),
    Clock("Couchbase", rf"^\[[\w:]+,{_ISO},", "iso", likes=("[%,____-__-__T%,%",)),
    Clock("SAP HANA", rf"^\[\d+\]\{{-?\d+\}}\[-?\d+/-?\d+\] {_ISO}", "iso",
          likes=("[%]{%}[%] ____-__-__ %",)),
    Clock("Docker Compose", rf"^[\w.-]+ +\| {_ISO}", "iso"),
    Clock("slow queries of MySQL", rf"^# Time: {_ISO}", "iso", likes=("# Time: %",)),
    Clock("ISO 8601 in colour", rf"^(?:\x1b\[[\d;]*m)+(?:[A-Z]{{4,7}}\x1b\[0m)?\[?{_ISO}",
          "iso"),
    Clock("activity of Redshift", rf"^'{_ISO}", "iso", likes=("'____-__-__T%",)),
    Clock(
        "logfmt",
        rf'^(?:[\w.-]+=(?:"[^"\n]*"|[^\s"]*) )*(?:time|ts|timestamp|t)="?{_ISO}',
        "iso",
    ),
    Clock("nginx or Apache", r"\[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]",
          _COMMON_LOG, likes=("%[%",)),
    Clock("errors of nginx", r"^(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) \[", "%Y/%m/%d %H:%M:%S",
          likes=("____/__/__ %",)),
    Clock("Go", r"^(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) ", "%Y/%m/%d %H:%M:%S",
          likes=("____/__/__ __:__:__ %",)),
    Clock("Go with microseconds", r"^(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{6}) ",
          "%Y/%m/%d %H:%M:%S.%f", likes=("____/__/__ __:__:__.______ %",)),
    Clock("Go after blanks", rf"{_BLANKS}+(\d{{4}}/\d\d/\d\d \d\d:\d\d:\d\d) ",
          "%Y/%m/%d %H:%M:%S"),
    Clock("Go with microseconds after blanks",
          rf"{_BLANKS}+(\d{{4}}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{{6}}) ", "%Y/%m/%d %H:%M:%S.%f"),
    Clock("RocksDB", r"^(\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d\.\d{6}) ", "%Y/%m/%d-%H:%M:%S.%f",
          likes=("____/__/__-__:__:__.______ %",)),
    Clock("ClickHouse", r"^(\d{4}\.\d\d\.\d\d \d\d:\d\d:\d\d\.\d{6}) ", "%Y.%m.%d %H:%M:%S.%f",
          likes=("____.__.__ __:__:__.______ %",)),
    Clock("TiDB", r"^\[(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3} [+-]\d\d:\d\d)\]",
          "%Y/%m/%d %H:%M:%S.%g %z", likes=("[____/__/__ __:__:__.___ ___:__]%",)),
    Clock("CodeBuild", r"^\[Container\] (\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{6}) ",
          "%Y/%m/%d %H:%M:%S.%f", likes=("[Container] ____/__/__ __:__:__.______ %",)),
    Clock("CodeBuild before 2023", r"^\[Container\] (\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) ",
          "%Y/%m/%d %H:%M:%S", likes=("[Container] ____/__/__ __:__:__ %",)),
    Clock("audit of Redshift",
          rf"^(?:[^|\n]*\|){{1,20}}\w{{3}}, (\d\d {MONTH} \d{{4}} \d\d:\d\d:\d\d:\d{{3}})(?:\||$)",
          "%d %b %Y %H:%M:%S:%g", likes=("%|___, __ ___ ____ __:__:__:___%",)),
    Clock("NATS", r"^\[\d+\] (\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{6}) ",
          "%Y/%m/%d %H:%M:%S.%f", likes=("[%] ____/__/__ __:__:__.______ %",)),
    Clock("Palo Alto", r"^(?:<\d{1,3}>)?\d+,(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d),",
          "%Y/%m/%d %H:%M:%S", likes=("%,____/__/__ __:__:__,%",)),
    Clock("Sybase", r"^\d\d:\d{4}:\d{5}:\d{5}:(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d\d) ",
          "%Y/%m/%d %H:%M:%S.%f", likes=("__:____:_____:_____:____/__/__ %",)),
    Clock("Samba", r"^\[(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{6}), ", "%Y/%m/%d %H:%M:%S.%f",
          likes=("[____/__/__ __:__:__.______, %",)),
    Clock("java.util.logging", rf"^({MONTH} \d{{1,2}}, \d{{4}} \d{{1,2}}:\d\d:\d\d [AP]M) ",
          "%b %d, %Y %I:%M:%S %p"),
    Clock("WebLogic",
          rf"^####<({MONTH} \d{{1,2}}, \d{{4}} \d{{1,2}}:\d\d:\d\d,\d{{3}} [AP]M) ",
          "%b %d, %Y %I:%M:%S,%g %p", likes=("####<%",)),
    Clock("WebLogic before 12.2",
          rf"^####<({MONTH} \d{{1,2}}, \d{{4}} \d{{1,2}}:\d\d:\d\d [AP]M) ",
          "%b %d, %Y %I:%M:%S %p", likes=("####<%",)),
    Clock("WebSphere",
          r"^\[(\d{1,2}/\d{1,2}/\d\d \d{1,2}:\d\d:\d\d:\d{3}) [A-Z]{3,4}\] [0-9a-f]{8} ",
          "%m/%d/%y %H:%M:%S:%g"),
    Clock("uWSGI",
          rf"^\[pid: [^\n]*\}} \[\w{{3}} ({MONTH} [ \d]\d \d\d:\d\d:\d\d \d{{4}})\] ",
          "%b %d %H:%M:%S %Y", likes=("[pid: %} [___ ___ __ __:__:__ ____] %",)),
    Clock("Tomcat", rf"^(\d\d-{MONTH}-\d{{4}} \d\d:\d\d:\d\d\.\d{{3}}) ",
          "%d-%b-%Y %H:%M:%S.%g", likes=("__-___-____ __:__:__.___ %",)),
    Clock("PHP", rf"^\[(\d\d-{MONTH}-\d{{4}} \d\d:\d\d:\d\d)(?: UTC)?\]",
          "%d-%b-%Y %H:%M:%S", likes=("[__-___-____ __:__:__]%", "[__-___-____ __:__:__ UTC]%")),
    Clock("Django", rf"^\[(\d\d/{MONTH}/\d{{4}} \d\d:\d\d:\d\d)\]", "%d/%b/%Y %H:%M:%S",
          likes=("[__/___/____ __:__:__]%",)),
    # Other programs have the day or the month first, but not these levels.
    Clock("Spark", rf"^(\d\d/\d\d/\d\d \d\d:\d\d:\d\d) {_LEVEL} ", "%y/%m/%d %H:%M:%S",
          likes=("__/__/__ __:__:__ %",)),
    Clock("MySQL before 5.7", r"^(\d{6} [ \d]\d:\d\d:\d\d) (?:\[|mysqld_safe |InnoDB: | )",
          "%y%m%d %H:%M:%S", likes=("______ __:__:__ %",)),
    Clock("HDFS", rf"^(\d{{6}} \d{{6}}) \d+ {_LEVEL} ", "%y%m%d %H%M%S"),
    Clock("RDS audit", r"^(\d{8} \d\d:\d\d:\d\d),", "%Y%m%d %H:%M:%S",
          likes=("________ __:__:__,%",)),
    Clock("ISO 8601 without signs", r"^\[?(\d{8}T\d{6})Z", "%Y%m%dT%H%M%S",
          likes=("________T______Z%", "[________T______Z%")),
    Clock("ISO 8601 without signs but a point", r"^\[?(\d{8}T\d{6}\.\d{1,6})\d*Z",
          "%Y%m%dT%H%M%S.%f", likes=("________T______.%", "[________T______.%")),
    Clock("dmesg", rf"^\[?\w{{3}} ({MONTH} [ \d]\d \d\d:\d\d:\d\d \d{{4}})(?:\]? |$)",
          "%b %d %H:%M:%S %Y",
          likes=("___ ___ __ __:__:__ ____", "___ ___ __ __:__:__ ____ %",
                 "[___ ___ __ __:__:__ ____] %")),
    Clock("auditd", rf"^(?:node=\S+ )?type=\S+ msg=audit\(({_EPOCH}):", "epoch",
          likes=("%type=% msg=audit(%",)),
    Clock("Route 53", rf"^\d\.\d {_ISO} ", "iso", likes=("_._ ____-__-__T%",)),
    Clock("errors of Apache", rf"^\[\w{{3}} ({MONTH} \d\d \d\d:\d\d:\d\d\.\d{{6}} \d{{4}})\]",
          "%b %d %H:%M:%S.%f %Y", likes=("[___ ___ __ __:__:__.______ ____]%",)),
    Clock("CloudFront", r"^(\d{4}-\d\d-\d\d\t\d\d:\d\d:\d\d)\t", "%Y-%m-%d\t%H:%M:%S",
          likes=("____-__-__\t__:__:__\t%",)),
    Clock("Redis", rf"^\d+:[A-Z] (\d\d {MONTH} \d{{4}} \d\d:\d\d:\d\d\.\d{{3}}) ",
          "%d %b %Y %H:%M:%S.%g", likes=("%:_ __ ___ ____ __:__:__.___ %",)),
    Clock("log4j", rf"^\[?(\d\d {MONTH} \d{{4}} \d\d:\d\d:\d\d,\d{{3}})", "%d %b %Y %H:%M:%S,%g",
          likes=("__ ___ ____ %", "[__ ___ ____ %")),
    Clock("syslog (RFC 5424)", rf"^<\d{{1,3}}>1 {_ISO}", "iso", likes=("<%>1 %",)),
    Clock("syslog", rf"^(?:<\d{{1,3}}>)?({MONTH} [ \d]\d \d\d:\d\d:\d\d) ", "%b %d %H:%M:%S",
          likes=("___ __ __:__:__ %", "<%>___ __ __:__:__ %")),
    Clock("syslog with a fraction", rf"^[*.]?({MONTH} [ \d]\d \d\d:\d\d:\d\d\.\d{{1,6}})[ :]",
          "%b %d %H:%M:%S.%f", likes=("___ __ __:__:__.%", "____ __ __:__:__.%")),
    Clock("syslog with a year",
          rf"^(?:<\d{{1,3}}>)?({MONTH} [ \d]\d \d{{4}} \d\d:\d\d:\d\d)[ :]",
          "%b %d %Y %H:%M:%S", likes=("___ __ ____ __:__:__%", "<%>___ __ ____ __:__:__%")),
    Clock("HAProxy", rf"^\S+:\d+ \[(\d\d/{MONTH}/\d{{4}}:\d\d:\d\d:\d\d\.\d{{3}})\] ",
          "%d/%b/%Y:%H:%M:%S.%g", likes=("%:% [__/___/____:__:__:__.___] %",)),
    Clock("Fortinet", r"^(?:<\d{1,3}>)?date=(\d{4}-\d\d-\d\d time=\d\d:\d\d:\d\d)[ ,]",
          "%Y-%m-%d time=%H:%M:%S", likes=("%date=____-__-__ time=__:__:__%",)),
    Clock("Suricata", r"^(\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\.\d{6})  \[",
          "%m/%d/%Y-%H:%M:%S.%f", likes=("__/__/____-__:__:__.______  [%",)),
    Clock("Snort", r"^(\d\d/\d\d-\d\d:\d\d:\d\d\.\d{6})  \[", "%m/%d-%H:%M:%S.%f",
          likes=("__/__-__:__:__.______  [%",)),
    Clock("TDengine", r"^(\d\d/\d\d \d\d:\d\d:\d\d\.\d{6}) \d+ ", "%m/%d %H:%M:%S.%f",
          likes=("__/__ __:__:__.______ %",)),
    Clock("Erlang", rf"^=[A-Z ]+ REPORT==== (\d{{1,2}}-{MONTH}-\d{{4}}::\d\d:\d\d:\d\d) ===",
          "%d-%b-%Y::%H:%M:%S", likes=("=% REPORT==== %",)),
    Clock("Erlang with microseconds",
          rf"^=[A-Z ]+ REPORT==== (\d{{1,2}}-{MONTH}-\d{{4}}::\d\d:\d\d:\d\d\.\d{{6}}) ===",
          "%d-%b-%Y::%H:%M:%S.%f", likes=("=% REPORT==== %",)),
    # Other offsets, in minutes, are not read.
    Clock("Db2", r"^(\d{4}-\d\d-\d\d-\d\d\.\d\d\.\d\d\.\d{6})\+000 ",
          "%Y-%m-%d-%H.%M.%S.%f", likes=("____-__-__-__.__.__.______+000 %",)),
    Clock("apt", r"^Start-Date: (\d{4}-\d\d-\d\d  \d\d:\d\d:\d\d)", "%Y-%m-%d  %H:%M:%S",
          likes=("Start-Date: %",)),
    Clock("CockroachDB", r"^[IWEF](\d{6} \d\d:\d\d:\d\d\.\d{6}) ", "%y%m%d %H:%M:%S.%f",
          likes=("_______ __:__:__.%",)),
    Clock("klog with a year", r"^[IWEF](\d{8} \d\d:\d\d:\d\d\.\d{6}) ", "%Y%m%d %H:%M:%S.%f",
          likes=("_________ __:__:__.%",)),
    Clock("klog", r"^[IWEF](\d{4} \d\d:\d\d:\d\d\.\d{6}) ", "%m%d %H:%M:%S.%f",
          likes=("_____ __:__:__.%",)),
    Clock("load balancer", rf"^(?:https?|h2|grpcs?|wss?) {_ISO} ", "iso", likes=("%Z %",)),
    Clock("network load balancer", rf"^tls \d\.\d {_ISO} ", "iso", likes=("tls _._ %",)),
    FLOW_LOG,
    Clock("epoch at the beginning", rf"^\[?({_EPOCH})(?:[\] :,\s]|$)", "epoch"),
)  # fmt: skip
"""The forms that are recognised, apart from JSON fields; of equally good forms the first."""


def clock_of(lines: Sequence[str], before: Clock | None = None) -> Clock | None:
    """Return the clock that most of the first lines fit, None if no line fits one.

    The clock of the file before is tried first, since most files of a folder are alike.
    """
    return _clock_of(tuple(islice(filter(None, lines), _LINES)), before)


# A query asks it of the same lines in up to three places.
@lru_cache(maxsize=16)
def _clock_of(first: Sequence[str], before: Clock | None) -> Clock | None:
    best, most = (before, len(first)) if _fits_again(before, first) else _best_of(first)
    if most < len(first):
        wrapped = _wrapped(first)
        if wrapped and sum(map(wrapped.fits, first)) > most:
            return wrapped
    if any(map(_LAMBDA_TIMED.match, first)) and sum(map(LAMBDA.fits, first)) >= most:
        return LAMBDA
    if most < len(first):
        best = _with_second(_with_other(best, first), first)
    return _told_of_zone(best, first)


def _fits_again(clock: Clock | None, first: Sequence[str]) -> bool:
    """Tell whether a clock is the first one that all of the lines fit."""
    if clock is None or not first or not all(map(clock.test(), first)):
        return False
    choices = list(takewhile(lambda each: each != clock, _choices(first[:1])))
    return clock in _choices(first[:1]) and not any(each.fits(first[0]) for each in choices)


def _wrapped(first: Sequence[str]) -> Clock | None:
    """Return the clock of the lines in a field of JSON, None without one."""
    if not any(_WRAPPED in fields_of(line) for line in first):
        return None
    inner = _clock_of(tuple(str(_value(line, _WRAPPED)) for line in first), None)
    if inner is None or inner.prefix:
        return None
    name = f"{inner.name} in JSON field {_WRAPPED!r}"
    return inner._replace(name=name, within=_WRAPPED, likes=())


def _choices(lines: Sequence[str]) -> tuple[Clock, ...]:
    """Return the clocks that lines may have; equally good clocks keep their order."""
    keys = {key for line in lines for key in fields_of(line)}
    if not keys:
        return CLOCKS
    fields = (
        field_clock(field, _COMMON_LOG if field in _COMMON_LOG_FIELDS else "")
        for field in (*_FIELDS, *_COMMON_LOG_FIELDS)
        if keys & {field, field.partition(".")[0]}
    )
    return (*CLOCKS, *fields)


def _best_of(first: Sequence[str]) -> tuple[Clock | None, int]:
    """Return the clock that most lines fit, and their number."""
    best: Clock | None = None
    most = 0
    for clock in _choices(first):
        count = sum(map(bool, map(clock.test(), first)))
        if count > most:
            best, most = clock, count
        if first and count == len(first):
            break
    return best, most


def _with_other(clock: Clock | None, first: Sequence[str]) -> Clock | None:
    """Return a clock of JSON with another field, if that holds the times of some lines.

    The records of Lambda's platform have ``time``, and records of a function ``timestamp``; records
    of OpenTelemetry may have only the time of their observation.
    """
    if clock is None or clock.field not in _OTHER:
        return clock
    other = _OTHER[clock.field]
    fits = field_clock(other).fits
    if not any(fits(line) and not clock.fits(line) for line in first):
        return clock
    return clock._replace(name=f"{clock.name} or {other!r}", other=other)


def _with_second(clock: Clock | None, first: Sequence[str]) -> Clock | None:
    """Return a clock that also reads a second form of time, such as errors in an access log.

    A number at the beginning of a line shows no other form.
    """
    if clock is None or clock.prefix:
        return clock
    others = [line for line in first if not clock.fits(line)]
    if not others:  # the test of beginnings takes ten milliseconds to make
        return clock
    begins = _any_beginning()
    rest = [line for line in others if begins(line.encode())]
    counts = {
        each: sum(map(each.fits, rest)) for each in CLOCKS if each.form not in ("iso", "epoch")
    }
    best = max(counts, key=lambda each: counts[each])
    if not counts[best]:
        return clock
    return clock._replace(name=f"{clock.name}, or {best.name}", second=(best.pattern, best.form))


def _told_of_zone(clock: Clock | None, first: Sequence[str]) -> Clock | None:
    """Return a clock whose name says that it does not read the zone that lines name, if any."""
    if clock is None or clock.form != "iso":
        return clock
    found = filter(None, map(_searcher(clock.pattern), first[:_ZONED_LINES]))
    zones = (_ZONE.match(time.string, time.end(1)) for time in found)
    zone = next(filter(None, zones), None)
    return clock._replace(name=f"{clock.name}, {zone[1]} read as UTC") if zone else clock


def beginning(clock: Clock | None) -> Beginning:
    """Return the test of whether a line begins an event.

    It has a time in any form, or is a JSON object with one. Without a clock every line is an
    event. In an export only its prefix tells, since a message may have lines with times.
    """
    if clock is None:
        return bool
    own = re.compile(own_beginning(clock)).search
    if clock.prefix:
        return own
    return lambda line: own(line) or _any_beginning()(line)


@cache
def _any_iso() -> str:
    """Return a regular expression of a time in ISO 8601 wherever a clock finds it in a line."""
    patterns = (each.pattern for each in CLOCKS if each.form == "iso" and not each.prefix)
    return f"(?:{'|'.join(pattern.partition(_ISO)[0] for pattern in patterns)}){_ISO}"


def _any_field(line: str) -> str:
    """Return SQL for the time in the first field of a line of JSON that has one, or null."""
    pointers = dict.fromkeys(pointer for field in _FIELDS for pointer in _pointers(field))
    texts = f"json_extract_string({line}, [{', '.join(map(quoted, pointers))}])"
    times = f"list_transform(TRY({texts}), lambda t: {_iso_or_epoch('t')})"
    first = f"list_filter({times}, lambda t: t IS NOT NULL)[1]"
    return f"CASE WHEN starts_with({line}, '{{') THEN {first} END"


@cache
def _any_beginning() -> Beginning:
    """Return the test of whether a line has a time in any form."""
    object_ = rf"^\{{.*\"(?:{_ANY_FIELD})\" *:"
    # A line after blanks is a part of the event before, but where events begin with blanks.
    others = (each.pattern for each in CLOCKS if not each.pattern.startswith(_BLANKS))
    forms = (object_, _LAMBDA_LINE, *others)
    return re.compile("|".join(forms).encode()).search


def own_beginning(clock: Clock) -> bytes:
    """Return a regular expression that finds a time of this form, and no other, in a line."""
    needed = "" if clock.within else clock.pattern.removesuffix(_REST)
    return (clock.prefix or needed or r"^\{").encode()


def flow_log_clock(header: str) -> Clock | None:
    """Return the clock of a VPC flow log by the names of its columns, None if a line has none.

    S3 has them as the first line of a file, in the order that the owner of the flow log chose.
    """
    names = header.split()
    is_header = "start" in names and all(map(_COLUMN, names))
    if not is_header or not {"interface-id", "srcaddr"} & set(names):
        return None
    if header.startswith(_DEFAULT_COLUMNS):
        return FLOW_LOG
    pattern = rf"^(?:\S+ ){{{names.index('start')}}}(\d{{10}})\b"
    return Clock(FLOW_LOG.name, pattern, "epoch")


@cache
def _searcher(pattern: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(pattern).search


def headers(first: Sequence[str]) -> int:
    """Return the number of the first lines that name columns, and are not events."""
    if flow_log_clock("".join(first[:1])):
        return 1
    if not _DIRECTIVES("".join(first[:1])):
        return 0
    return sum(1 for _ in takewhile(lambda line: line.startswith("#"), first))


def field_clock(field: str, form: str = "") -> Clock:
    """Return the clock of lines that are JSON objects with the time in a field.

    Without a form, as `format_clock` takes it, the times are in ISO 8601 or since the epoch.
    """
    return Clock(f"JSON field {field!r}", "", form, field)


def format_clock(form: str) -> Clock:
    """Return the clock of lines that begin with a time, perhaps after a bracket.

    Parameters
    ----------
    form : str
        A format of strptime of the letters in ``LETTERS``. One that begins with a blank also finds
        times behind blanks; one that begins with ``*``, anywhere in a line. Without a date the
        times are the last times up to the file's last change, or up to 14 hours after it if
        they have no offset: the clocks of UTC+14 are as far ahead.

    Raises
    ------
    ValueError
        If the format has another letter, or none, or names only a part of a date or of a time.
    """
    given, whole = form, form.lstrip()
    form = whole.removeprefix(ANYTHING)
    parts = re.split("%(.?)", form)
    if expected := _expected(parts[1::2]):
        raise ValueError(f"{given!r} is not accepted; expected {expected}")
    pattern = "".join(
        LETTERS[part] if place % 2 else re.escape(part) for place, part in enumerate(parts)
    )
    begin = "" if form != whole else rf"{_BLANKS}*\[?" if form != given else r"^\[?"
    return Clock(f"format {given!r}", rf"{begin}({pattern})", form)


def _letters(form: str) -> set[str]:
    return set(re.findall("%(.)", form))


def _expected(given: Sequence[str]) -> str:
    """Return the accepted letters if a format has others, else ''."""
    letters = set(given)
    if not letters or letters - LETTERS.keys():
        return ", ".join(f"%{letter}" for letter in LETTERS)
    is_whole = "j" in letters or ("d" in letters and letters & {"m", "b"})
    if letters & _DATE and not is_whole:
        return "a whole date, %d with %m or %b, or %j, or else none"
    if ("I" in letters) != ("p" in letters):
        return "%I with %p, or %H"
    if letters & {"M", "S", "f"} and not letters & {"H", "I"}:
        return "an hour, %H or %I with %p, before its minutes"
    return ""


@lru_cache(maxsize=2 * _LINES)  # each clock asks for the fields of each line
def fields_of(line: str) -> dict[str, object]:
    """Return the members of a JSON object, none of another line."""
    try:
        fields = json.loads(line) if line.startswith("{") else {}
    except (ValueError, RecursionError):
        fields = {}
    return fields if isinstance(fields, dict) else {}


def _value(line: str, field: str) -> object:
    """Return the value of a JSON field, None without one."""
    fields = fields_of(line)
    if field in fields:
        return fields[field]
    value: object = fields
    for name in field.split("."):
        if isinstance(value, list) and name.isdecimal():
            value = dict(enumerate(value)).get(int(name))
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value


def _pointers(field: str) -> tuple[str, str]:
    """Return the JSON pointers of a field: dots are part of its name, or lead into fields."""
    pointer = "/" + field.replace("~", "~0").replace("/", "~1")
    return pointer, pointer.replace(".", "/")


def once(text: str, value: str) -> str:
    """Return SQL for a value of the text ``t``, which DuckDB computes once, also for a CASE."""
    return f"list_transform([{text}], lambda t: {value})[1]"


def _iso(text: str, pattern: str) -> str:
    parts = f"regexp_extract({text}, {quoted(pattern)}, ['time', 'fraction', 'zone'])"
    # The third digit is not rounded: a time is in the bin that it begins in.
    zone = "coalesce(nullif(trim(p.zone, ' ['), ''), 'Z')"
    time = f"p.time || '.' || rpad(p.fraction, 3, '0') || {zone}"
    moment = f"epoch_ms(TRY_CAST({time} AS TIMESTAMPTZ))"
    any_form = f"list_transform([{parts}], lambda p: {moment})[1]"
    before, _, after = pattern.partition(_ISO)
    if before not in _BEGINNINGS or after.strip():
        return any_form
    return f"coalesce({_common_iso(text, after)}, {any_form})"


def _common_iso(text: str, after: str) -> str:
    """Return SQL for the time at the beginning of a text in its most common forms, or null.

    It takes half the time of the regular expression, which captures three groups.
    """
    begin = f"{text} LIKE '____-__-__"
    zone = f"({text}[25] IN ('+', '-', 'Z') AND {text}[25:26] <> '- ') OR {text}[20] = ' '"
    point = f"replace(left({text}, 23), ',', '.')"
    forms = (
        (f"{begin}T__:__:__.___Z{after}%'", f"left({text}, 23)", "TIMESTAMP"),
        (f"{begin}T__:__:__Z{after}%'", f"left({text}, 19)", "TIMESTAMP"),
        (f"{begin}T__:__:__.______:__{after}%'", f"left({text}, 29)", "TIMESTAMPTZ"),
        (f"{begin} __:__:______ _%' AND NOT ({zone})", point, "TIMESTAMP"),
    )
    cases = (
        f"WHEN {fits} THEN epoch_ms(TRY_CAST({time} AS {type_}))" for fits, time, type_ in forms
    )
    return f"CASE {' '.join(cases)} END"


def _strptime(text: str, form: str) -> str:
    # DuckDB's epoch_ms rounds.
    return f"(epoch_us(TRY_STRPTIME({text}, {quoted(form)})) // 1000)"


def _iso_or_epoch(text: str) -> str:
    iso = _iso(text, f"^{_ISO}")
    return f"CASE WHEN {text} LIKE '____-%' THEN {iso} ELSE {_epoch(text)} END"


def _epoch(text: str) -> str:
    scaled = (
        "CASE WHEN n < 1e11 THEN n * 1000 WHEN n < 1e14 THEN n WHEN n < 1e17 THEN n / 1000 "
        # A quotient as a double would be rounded up.
        "ELSE CAST(n AS HUGEINT) // 1000000 END"
    )
    # OpenTelemetry has 0 for an unknown time.
    number = f"nullif(TRY_CAST({text} AS DECIMAL(38, 9)), 0)"
    return f"list_transform([{number}], lambda n: TRY_CAST(floor({scaled}) AS BIGINT))[1]"


def _dated(text: str, form: str, change_time: str) -> str:
    """Return SQL for a time in a format; the file's last change tells a missing year or day."""
    letters = _letters(form)
    if not letters & _DATE:
        return _dayless(text, form, change_time)
    return _strptime(text, form) if letters & _YEARS else _yearless(text, form, change_time)


def _yearless(text: str, form: str, change_time: str) -> str:
    """Return SQL for the last such time up to a day after the change of the file."""
    limit = f"({change_time} + {_DAY})"
    years = (f"(year(make_timestamp_ms({limit})) - {before})::VARCHAR" for before in (0, 1))
    return _last([_strptime(f"{year} || ' ' || {text}", f"%Y {form}") for year in years], limit)


def _dayless(text: str, form: str, change_time: str) -> str:
    """Return SQL for the last such time of day up to the change of the file, or soon after it.

    Without an offset it may be of a clock ahead of UTC. With one it may be of the day after,
    too.
    """
    has_offset = "z" in _letters(form)
    limit = f"({change_time} + {_MINUTE if has_offset else _MOST_AHEAD})"
    days = (
        f"strftime(make_timestamp_ms({limit} - {before * _DAY}), '%Y-%m-%d ')"
        for before in ((-1, 0, 1) if has_offset else (0, 1))
    )
    return _last([_strptime(f"{day} || {text}", f"%Y-%m-%d {form}") for day in days], limit)


def _last(times: Sequence[str], limit: str) -> str:
    """Return SQL for the first of some times up to a limit, null if there is none."""
    return f"list_filter([{', '.join(times)}], lambda t: t <= {limit})[1]"
