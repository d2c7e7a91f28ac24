"""The answers over logs of eight kinds equal plain DuckDB's over the same files.

Whatever bytes a log has, each line is read right, or skipped and counted.
"""

import bz2
import gzip
import random
import re
from io import BytesIO

import duckdb
import pytest
from backports import zstd
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from written_logs import COLUMNS, CONDITIONS, KINDS, PIECES, QUERY, records

from cwli.insights import EventsError, run
from cwli.readers.files import Untimed, log_files
from cwli.readers.folders import LogFilesError
from cwli.readers.mending import Damage, Mending

PACKINGS = [bytes, gzip.compress, bz2.compress, zstd.compress]


def answer(path, folder, query):
    """Return the rows over a file, or over the copy that it needs."""
    try:
        rows = run(query, log_files([path])).rows
    except (LogFilesError, EventsError):
        rows = run(query, log_files([path], copies=Mending().copies([path], folder).copies)).rows
    return sorted((row[0]["value"], *(float(cell["value"]) for cell in row[1:])) for row in rows)


def plain_answer(text, kind, condition):
    """Return the same rows, which DuckDB alone takes from the text of a file."""
    values = (
        f"SELECT ({kind.time})::BIGINT AS time, {kind.level} AS level, "
        f"({kind.latency})::BIGINT AS latency, line FROM ({kind.events}) WHERE line <> ''"
    )
    rows = duckdb.execute(
        f"WITH content AS (SELECT $1 AS content) SELECT level, time // 60000 * 60000, count(*), "
        "count(*) FILTER (latency > 99), count(*) FILTER (contains(line, 'é.main')), sum(latency), "
        "min(latency), max(latency), avg(latency) "
        f"FROM ({values}) WHERE {condition} GROUP BY ALL",
        [text],
    ).fetchall()
    return sorted((row[0], *map(float, row[1:])) for row in rows)


@pytest.mark.parametrize("name", KINDS)
@fuzz(10)
@given(seed=st.integers(0, 10**6))
def test_the_answers_over_a_log_are_those_of_an_independent_reader(tmp_path_factory, name, seed):
    kind, chance = KINDS[name], random.Random(seed)
    folder = tmp_path_factory.mktemp("log")
    text = kind.envelope([kind.write(record) for record in records(seed)])
    end = chance.choice(["\n", "\r\n"])
    path = folder / "app.log"
    path.write_bytes(chance.choice(PACKINGS)(text.replace("\n", end).encode()))
    condition, plain = chance.choice(CONDITIONS)
    query = QUERY.format(parse=kind.parse, condition=condition, columns=", ".join(COLUMNS))

    rows = answer(path, folder, query)

    assert rows == plain_answer(text, kind, plain)


MOST = 1_048_576


def events_and_damage(path, folder):
    """Return the messages of a file and its damage, as `cwli` finds them."""
    try:
        return messages(log_files([path], untimed=Untimed.BORROWED)), {}
    except (LogFilesError, EventsError):
        mended = Mending().copies([path], folder)
        return messages(
            log_files([path], copies=mended.copies, untimed=Untimed.BORROWED)
        ), mended.damage


def messages(events):
    return [row[0]["value"] for row in run("fields @message | sort @ptr", events).rows]


def lines_of(content):
    """Return the lines of bytes in plain Python, and the numbers of dirty and of skipped lines."""
    lines = [line.rstrip(b"\r\n") for line in BytesIO(content)]
    kept = [line if len(line) < MOST else b"" for line in lines]
    texts = [line.decode(errors="replace").replace("\U0010ffff", "\ufffd") for line in kept]
    dirty = sum(text.encode() != line for text, line in zip(texts, kept, strict=True))
    return texts, dirty, sum(len(line) >= MOST for line in lines)


def joined(lines):
    """Return the events of lines, some with times, in plain Python."""
    events = []
    for line in lines:
        if re.match(r"\[?2024-", line) or not any(re.match(r"\[?2024-", each) for each in events):
            events.append(line)
        else:
            events[-1] += f"\n{line}"
    return [event.rstrip("\n") for event in events]


@fuzz(100)
@given(
    begin=st.sampled_from([b"begin ", PIECES[0]]),
    rest=st.lists(st.sampled_from(PIECES), max_size=40),
)
def test_every_line_of_dirty_bytes_is_right_or_counted(tmp_path_factory, begin, rest):
    folder = tmp_path_factory.mktemp("log")
    path = folder / "dirty.log"
    content = b"".join([begin, *rest]).replace(b"LONG", b"x" * MOST)
    path.write_bytes(content)
    lines, dirty, skipped = lines_of(content)

    shown, damage = events_and_damage(path, folder)

    assert shown == [event for event in joined(lines) if event]
    assert damage.get(Damage.BYTES, 0) == dirty
    assert damage.get(Damage.LONG, 0) == skipped
