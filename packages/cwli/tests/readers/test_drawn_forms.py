"""Logs in ten forms that are drawn at random, read by a second implementation in plain Python."""

import os
import re
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from cwli.insights import run
from cwli.readers.files import Untimed, log_files
from cwli.readers.mending import Mending

BEGIN = datetime(2024, 6, 2, 14, 26, tzinfo=UTC)
# The form of a line with its time in braces, and the letters of strptime for the time.
FORMS = [
    ("{} x", "%Y-%m-%dT%H:%M:%S.%fZ"),
    ("[{}] ERROR x", "%Y-%m-%d %H:%M:%S,%f"),
    ("{} 7f5c db/a.cc:7] x", "%Y/%m/%d-%H:%M:%S.%f"),
    ("{} [ 7 ] {{q}} <Debug> x", "%Y.%m.%d %H:%M:%S.%f"),
    ("I{} 14 a.go:7 x", "%y%m%d %H:%M:%S.%f"),
    ("[Container] {} x", "%Y/%m/%d %H:%M:%S.%f"),
    ("[{},  0] a.c:7(b)", "%Y/%m/%d %H:%M:%S.%f"),
    ("\t{} x", "%Y/%m/%d %H:%M:%S.%f"),
    ("'{} UTC [ db=dev ]' LOG: x", "%Y-%m-%dT%H:%M:%SZ"),
    ("100|dev|{}", "Sun, %d %b %Y %H:%M:%S:%f"),
    ("time={} level=info x", "%Y-%m-%dT%H:%M:%SZ"),
    ('1.1.1.1 - - [{}] "GET / HTTP/1.1" 200 5', "%d/%b/%Y:%H:%M:%S +0000"),
    ("\x1b[36mINFO\x1b[0m[{}] x", "%Y-%m-%dT%H:%M:%SZ"),
    ("{} INFO [main] x", "%d-%b-%Y %H:%M:%S.%f"),
    ("7:M {} * x", "%d %b %Y %H:%M:%S.%f"),
    ("type=A msg=audit({}:7): x", "epoch"),
]
CONTINUATIONS = ["\tat a.b(c.java:7)", "", "  Caused by: d", "** DB Stats **", "7 e é"]


def written(time: datetime, form: str) -> str:
    milliseconds = f"{time.microsecond // 1000:03d}"
    if form == "epoch":
        return f"{int(time.timestamp())}.{milliseconds}"
    # Redshift, Tomcat, Redis and TiDB write milliseconds, RocksDB and Go microseconds.
    is_short = form.endswith(("S.%fZ", ",%f", ":%f")) or "%b" in form
    digits = milliseconds if is_short else f"{milliseconds}000"
    return time.strftime(form.replace("%f", digits))


def drawn_log(chance: Random, line: str, form: str) -> str:
    time, lines = BEGIN, []
    for _ in range(chance.randrange(1, 60)):
        time += timedelta(milliseconds=chance.choice([0, 1, 999, 60_000]))
        lines.append(line.format(written(time, form)))
        lines += chance.choices(CONTINUATIONS, k=chance.choice([0, 0, 0, 1, 4]))
    return "\n".join(lines)


def events_of(text: str, line: str, form: str) -> list[tuple[str, str]]:
    """Return the time and the message of each event, without cwli."""
    before, after = (re.escape(part.format()) for part in line.split("{}"))
    begin = re.compile(f"{before}(.+?){after}$")
    events: list[tuple[datetime, list[str]]] = []
    for each in text.split("\n"):
        if found := begin.fullmatch(each):
            events.append((time_of(found[1], form), [each]))
        else:
            events[-1][1].append(each)
    return [
        (f"{time:%Y-%m-%d %H:%M:%S}.{time.microsecond // 1000:03d}", "\n".join(lines).rstrip("\n"))
        for time, lines in events
    ]


def time_of(text: str, form: str) -> datetime:
    if form == "epoch":
        return datetime.fromtimestamp(round(float(text) * 1000) / 1000, UTC)
    return datetime.strptime(text, form).replace(tzinfo=UTC)


@pytest.mark.parametrize("seed", range(10))
def test_a_log_of_a_drawn_form_has_the_events_of_another_reader(tmp_path, seed):
    chance = Random(seed)
    line, form = FORMS[(seed * 7 + chance.randrange(len(FORMS))) % len(FORMS)]
    path = tmp_path / "a.log"
    path.write_text(drawn_log(chance, line, form), encoding="utf-8")
    os.utime(path, (BEGIN.timestamp() + 86_400,) * 2)
    copies = Mending().copies([path], tmp_path).copies
    files = log_files([path], copies=copies, untimed=Untimed.BORROWED)
    found = run("fields @timestamp, @message | sort @ptr", files).rows
    ours = [tuple(cell["value"] for cell in row[:2]) for row in found]
    assert ours == events_of(path.read_text(encoding="utf-8"), line, form)
