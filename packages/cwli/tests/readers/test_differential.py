"""The answers over logs of eight kinds are those of plain DuckDB over the same files."""

import bz2
import gzip
import random

import duckdb
import pytest
from backports import zstd
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from written_logs import COLUMNS, CONDITIONS, KINDS, QUERY, records

from cwli.insights import EventsError, run
from cwli.readers.files import log_files
from cwli.readers.folders import LogFilesError
from cwli.readers.mending import Mending

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
