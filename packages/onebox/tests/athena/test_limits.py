"""Statements that would take the memory, the disk or the time of the machine, and their end."""

import os
import threading

import pytest
from endless import CROSS_JOIN

from cwli.cancellation import Cancellation, Cancelled
from onebox.athena import api as athena
from onebox.athena import execution, parser

_TEN = "(VALUES '0', '1', '2', '3', '4', '5', '6', '7', '8', '9')"
_MILLION = (
    f"WITH t AS (SELECT * FROM {_TEN} AS t(x)), "
    "m AS (SELECT concat(a.x, b.x, c.x, d.x, e.x, f.x) AS y FROM t a, t b, t c, t d, t e, t f) "
)
_SORTED = (
    f"{_MILLION}, n AS (SELECT lpad(y, 60, 'y') AS z FROM m WHERE y < '3') "
    "SELECT count(*) FROM (SELECT z, row_number() OVER (ORDER BY z) AS place FROM n) "
    "WHERE place < length(z)"
)


def failure(query):
    with pytest.raises(athena.QueryError) as caught:
        athena.run(query, None, {})
    return str(caught.value)


def test_a_statement_that_needs_more_memory_than_an_engine_has_says_so_in_one_sentence(monkeypatch):
    monkeypatch.setitem(execution._CONFIG, "memory_limit", "16MiB")

    assert failure(f"{_MILLION} SELECT array_agg(y) FROM m") == (
        "EXCEEDED_LOCAL_MEMORY_LIMIT: The query needs more than 256MiB of memory and 2GiB on the "
        "disk, the most on one machine"
    )


def test_what_does_not_fit_into_memory_is_spilled_and_removed(monkeypatch, tmp_path):
    monkeypatch.setitem(execution._CONFIG, "memory_limit", "24MiB")
    kept = athena.RowCache(tmp_path)

    found = athena.run(_SORTED, None, {}, kept=kept)

    assert found.rows == [["59"]]
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_has_spilled_is_removed(tmp_path):
    old, new = tmp_path / "spill-1", tmp_path / "spill-2"
    for folder in (old, new):
        folder.mkdir()
        (folder / "block").touch()
    os.utime(old, (0, 0))

    athena.keep(None, {}, athena.RowCache(tmp_path), 1)

    assert list(tmp_path.iterdir()) == [new]


def test_a_result_of_too_many_bytes_is_refused_before_they_are_held(monkeypatch):
    monkeypatch.setattr(execution, "_MOST_RESULT_BYTES", 1 << 20)

    assert failure(f"{_MILLION} SELECT lpad('a', 1000, 'b') FROM m") == (
        "EXCEEDED_LOCAL_MEMORY_LIMIT: The result has more than 1 MiB of values, the most on one "
        "machine"
    )


@pytest.mark.parametrize(
    "expression",
    [
        f"{'NOT ' * 3_000}true",
        f"{'- ' * 3_000}1",
        f"{'CASE WHEN true THEN ' * 3_000}1{' END' * 3_000}",
        f"1{' + 1' * 3_000}",
        f"{'EXISTS (SELECT ' * 3_000}1{')' * 3_000}",
        f"{'ARRAY[' * 3_000}1{']' * 3_000}",
        f"CAST(NULL AS {'array(' * 3_000}bigint{')' * 3_000})",
    ],
    ids=["not", "minus", "case", "plus", "exists", "array", "type"],
)
def test_3000_parts_within_each_other_are_refused_in_one_sentence(expression):
    assert failure(f"SELECT {expression}") == (
        "NOT_SUPPORTED: A query with this many brackets is not supported on one machine"
    )


def test_a_statement_that_takes_long_to_read_is_refused(monkeypatch):
    monkeypatch.setattr(parser, "MOST_SECONDS_TO_READ", 0.001)

    assert failure(f"SELECT {' + '.join(['1'] * 1_200)}") == (
        "NOT_SUPPORTED: A query that takes 0.001 seconds to read is not supported on one machine"
    )


def join(cancellation):
    return athena.run(CROSS_JOIN, None, {}, cancellation=cancellation)


def test_a_query_ends_when_another_thread_cancels_it():
    cancellation = Cancellation()
    other = threading.Timer(0.1, cancellation.cancel)
    other.start()

    with pytest.raises(Cancelled):
        join(cancellation)
    other.join()


def test_a_query_ends_when_its_time_is_over():
    with pytest.raises(athena.QueryError, match=r"^Query timeout$"):
        join(Cancellation(0.0))


def test_a_query_within_its_time_gives_its_result():
    assert athena.run("SELECT 1", None, {}, cancellation=Cancellation(60)).rows == [["1"]]
