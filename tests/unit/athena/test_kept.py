"""Rows of partitions that are kept, and when their objects are read again."""

import gzip
import json

import pytest

from local import athena
from tests.unit.athena.conftest import LOCATION

QUERY = "SELECT suite, year, run_id, value, started_at, versions FROM rates ORDER BY run_id"


def place(year, name):
    return f"{LOCATION}suite=rocksdb/year={year}/{name}.jsonl.gz"


def row(name, **more):
    times = {"started_at": "2026-11-20 12:44:55.678", "versions": ["9.0.0", None]}
    return {"run_id": name, "value": 1.5, **times, **more}


@pytest.fixture
def kept(tmp_path):
    return athena.KeptRows(tmp_path / "kept", worthwhile_objects=2)


@pytest.fixture
def ask(objects, catalogue, kept):
    """Ask, and tell what was read for the answer: rows, and the names of objects."""

    def ask(query=QUERY):
        objects.read_locations.clear()
        found = athena.run(query, objects, catalogue, database="tidemark", kept=kept)
        return found.rows, sorted(place.split("/")[-1][0] for place in objects.read_locations)

    return ask


@pytest.fixture
def stored(objects):
    for year, name in ((2025, "a"), (2025, "b"), (2026, "c")):
        objects.put(place(year, name), row(name))


@pytest.mark.usefixtures("stored")
def test_the_objects_of_a_large_partition_are_read_once(ask):
    first, read = ask()
    again, read_again = ask()

    assert (read, read_again) == (["a", "b", "c"], ["c"])
    assert again == first
    assert [cells[:3] for cells in first] == [
        ["rocksdb", "2025", "a"],
        ["rocksdb", "2025", "b"],
        ["rocksdb", "2026", "c"],
    ]


@pytest.mark.usefixtures("stored")
def test_another_query_takes_other_columns_from_what_is_kept(ask):
    ask()

    assert ask("SELECT count(*) FROM rates") == ([["3"]], ["c"])
    assert ask("SELECT sum(samples) FROM rates") == ([[None]], ["c"])


@pytest.mark.usefixtures("stored")
def test_an_object_that_is_written_anew_is_read_again(ask, objects, tmp_path):
    ask()
    objects.put(place(2025, "a"), row("a", value=2.5))

    rows, read = ask()

    assert (rows[0][3], read) == ("2.5", ["a", "b", "c"])
    assert len(list((tmp_path / "kept").rglob("*.parquet"))) == 1


@pytest.mark.usefixtures("stored")
def test_an_object_that_is_added_or_gone_is_seen(ask, objects):
    ask()
    objects.put(place(2025, "d"), row("d"))
    assert [cells[2] for cells in ask()[0]] == ["a", "b", "c", "d"]

    del objects.bodies[place(2025, "a")]
    assert [cells[2] for cells in ask()[0]] == ["b", "c", "d"]


@pytest.mark.usefixtures("stored")
def test_a_value_that_does_not_fit_is_an_error_to_who_asks_for_it_only(ask, objects):
    text = json.dumps(row("a", samples="many"))
    objects.bodies[place(2025, "a")] = gzip.compress(text.encode())

    assert len(ask()[0]) == 3
    with pytest.raises(athena.QueryError, match="Field samples of type int"):
        ask("SELECT sum(samples) FROM rates")


@pytest.mark.usefixtures("stored")
def test_a_folder_that_cannot_be_written_to_keeps_no_query_from_its_answer(ask, tmp_path):
    (tmp_path / "kept").write_text("in the way")

    assert len(ask()[0]) == 3
