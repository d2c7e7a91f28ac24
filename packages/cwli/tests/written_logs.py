"""Generated logs of eight kinds, and SELECTs that read them without Tidemark.

A log has records of a time, a level and a latency. Each kind writes them in its form, and says how
a query and how plain DuckDB read them back.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

BEGIN = int(datetime(2024, 6, 2, 14, 26, tzinfo=UTC).timestamp() * 1000)
LEVELS = ["INFO", "WARN", "ERROR", "ERR", "01", "1"]
LINES = "SELECT rtrim(unnest(string_split(content, chr(10))), chr(13)) AS line FROM content"


@dataclass(frozen=True)
class Record:
    """A record; its time is in milliseconds since 1970-01-01 UTC."""

    time: int
    level: str
    latency: int

    def at(self, form: str) -> str:
        return datetime.fromtimestamp(self.time / 1000, UTC).strftime(form)

    @property
    def iso(self) -> str:
        return f"{self.at('%Y-%m-%dT%H:%M:%S')}.{self.time % 1000:03d}Z"


@dataclass(frozen=True)
class Kind:
    """A kind of log.

    Attributes
    ----------
    write : callable
        Returns the lines of a record.
    parse : str
        The commands that give ``level`` and ``latency``.
    events, time, level, latency : str
        DuckDB's SQL for the events of ``content``, a SELECT of ``line``, and for their values.
    envelope : callable
        Returns the text of a file with these lines.
    """

    write: Callable[[Record], str]
    parse: str
    time: str
    level: str
    latency: str
    events: str = LINES
    envelope: Callable[[list[str]], str] = lambda lines: "".join(f"{line}\n" for line in lines)


def iso_time(text: str) -> str:
    return f"epoch_ms(CAST({text} AS TIMESTAMPTZ))"


def part(pattern: str) -> str:
    return f"regexp_extract(line, '{pattern}', 1)"


def member(path: str) -> str:
    return f"json_extract_string(line, '{path}')"


def pairs(record: Record) -> str:
    return f"level={record.level} latency={record.latency} end"


def trace(record: Record) -> str:
    lines = ["Traceback: latency=7 end", "\tat é.main(a.py:1)", "", "Caused by: 2024 level=x"]
    return "".join(f"\n{line}" for line in lines[: record.latency % 5])


def docker(record: Record) -> str:
    text = json.dumps({"level": record.level, "latency": record.latency})
    return json.dumps({"log": f"{text}\n", "stream": "stdout", "time": record.iso})


def trail(record: Record) -> str:
    event = {"eventVersion": "1.08", "eventTime": record.at("%Y-%m-%dT%H:%M:%SZ")}
    return json.dumps({**event, "eventName": record.level, "bytes": {"out": record.latency}})


PAIRS = "parse @message 'level=* latency=* end' as level, latency"
LEVEL, LATENCY = part(r"level=(\S+) "), part(r"latency=(\d+) end")
VPC = "2 123456789012 eni-1235b8ca 172.31.16.139 172.31.16.21"

KINDS = {
    "JSON lines": Kind(
        lambda r: json.dumps({"ts": r.time, "a": {"level": r.level}, "latency": r.latency}),
        "fields a.level as level",
        member("$.ts"),
        member("$.a.level"),
        member("$.latency"),
    ),
    "Docker": Kind(
        docker,
        "fields jsonParse(log) as j | fields j.level as level, j.latency as latency",
        iso_time(member("$.time")),
        f"json_extract_string({member('$.log')}, '$.level')",
        f"json_extract_string({member('$.log')}, '$.latency')",
    ),
    "nginx": Kind(
        lambda r: (
            f'192.0.2.1 - - [{r.at("%d/%b/%Y:%H:%M:%S +0000")}] "GET /{r.level} HTTP/1.1" 200 '
            f"{r.latency}"
        ),
        r"parse @message /GET \/(?<level>\S+) .* (?<latency>\d+)$/",
        f"epoch_ms(strptime({part('.*([0-9]{2}/[^ ]+) ')}, '%d/%b/%Y:%H:%M:%S'))",
        part(r"GET /(\S+) "),
        part(r" (\d+)$"),
    ),
    "syslog": Kind(
        lambda r: f"<34>1 {r.iso} host app - - - {pairs(r)}",
        PAIRS,
        iso_time(part(r"^\S+ (\S+) ")),
        LEVEL,
        LATENCY,
    ),
    "log4j with stack traces": Kind(
        lambda r: f"{r.at('%Y-%m-%d %H:%M:%S')},{r.time % 1000:03d} {pairs(r)}{trace(r)}",
        PAIRS,
        iso_time("replace(left(line, 23), ',', '.') || 'Z'"),
        LEVEL,
        LATENCY,
        # Every event begins on the same day.
        "SELECT '2024-' || unnest(string_split(chr(10) || content, chr(10) || '2024-')[2:]) "
        "AS line FROM content",
    ),
    "VPC flow log": Kind(
        lambda r: (
            f"{VPC} 20641 {r.level} 6 20 {r.latency} {r.time // 1000} {r.time // 1000} ACCEPT OK"
        ),
        "fields dstPort as level, bytes as latency",
        "CAST(split_part(line, ' ', 11) AS BIGINT) * 1000",
        "split_part(line, ' ', 7)",
        "split_part(line, ' ', 10)",
    ),
    "CloudTrail": Kind(
        trail,
        "fields eventName as level, bytes.out as latency",
        iso_time(member("$.eventTime")),
        member("$.eventName"),
        member("$.bytes.out"),
        "SELECT unnest(json_extract(content, '$.Records[*]'))::VARCHAR AS line FROM content",
        lambda lines: f'{{"Records": [{", ".join(lines)}]}}',
    ),
    "aws logs tail": Kind(
        lambda r: f"{r.iso[:-1]}000+00:00 app/1/ab {pairs(r)}",
        PAIRS,
        iso_time(part(r"^(\S+) ")),
        LEVEL,
        LATENCY,
    ),
}


def records(seed: int) -> list[Record]:
    chance = Random(seed)
    return [
        Record(
            BEGIN + chance.randrange(180_000),
            chance.choice(LEVELS),
            chance.choice([0, 7, 99, 100, 1_234, 10**6]),
        )
        for _ in range(chance.choice([1, 40, 400]))
    ]


COLUMNS = ["n", "slow", "traces", "total", "least", "most", "mean"]
QUERY = (
    "{parse} | filter {condition} | stats count(*) as n, sum(latency > 99) as slow, "
    "sum(@message like /é.main/) as traces, sum(latency) as total, min(latency) as least, "
    "max(latency) as most, avg(latency) as mean by level, bin(1m) as minute "
    "| display level, toMillis(minute) as at, {columns}"
)
CONDITIONS = [
    ("latency >= 0", "TRUE"),
    ("latency > 99", "latency > 99"),
    ('level = "01"', "level = '01'"),
    ("level = 1", "level IN ('1', '01')"),
    ('level in ["ERR", "1"]', "level IN ('ERR', '1')"),
    ("level like /^ERR/ and latency != 7", "level LIKE 'ERR%' AND latency <> 7"),
]
PIECES = [
    b"2024-06-02T14:26:00Z ", b"\n2024-06-02T14:26:00Z ", b"\n[2024-06-02 14:26:00", b"plain", b" ",
    b"\xe2\x98\x83", b"\xe2\x98", b"\xff", b"\x80\x80", b"\xed\xa0\x80", b"\x0b\x0c\xc2\x85", b"\0",
    b"\xef\xbb\xbf", b"\xf4\x8f\xbf\xbf", b"\r", b"\r\n", b"\n", b"\n\n", b"'",
    b"\x1f\x8b", b"BZh9", b'\n{"a":', b"}", b'"', b"\\", b"LONG",
]  # fmt: skip
