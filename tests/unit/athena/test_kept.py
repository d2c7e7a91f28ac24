"""Rows of batches of objects that are kept, and when the objects are read again."""

import gzip
import json
import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local import athena
from tests.unit.athena.conftest import COLUMNS, LOCATION, PROJECTION, MemoryObjects, described

QUERY = "SELECT suite, year, run_id, value, started_at, versions FROM rates ORDER BY run_id"


def place(year, name):
    return f"{LOCATION}suite=rocksdb/year={year}/{name}.jsonl.gz"


def row(name, **more):
    times = {"started_at": "2026-11-20 12:44:55.678", "versions": ["9.0.0", None]}
    return {"run_id": name, "value": 1.5, **times, **more}


@pytest.fixture
def kept(tmp_path):
    return athena.KeptRows(tmp_path / "kept", batch_sizes=(4, 2))


@pytest.fixture
def files(tmp_path):
    """The files that are there, by name."""
    return lambda: {file.name: file for file in (tmp_path / "kept").rglob("*.*")}


@pytest.fixture
def ask(objects, catalogue, kept):
    """Ask, and tell what was read for the answer: rows, and the names of objects."""

    def ask(query=QUERY):
        objects.read_locations.clear()
        found = athena.run(query, objects, catalogue, database="tidemark", kept=kept)
        return found.rows, sorted(place.split("/")[-1][0] for place in objects.read_locations)

    return ask


@pytest.fixture
def keep(objects, catalogue, kept):
    """Keep what can be kept in some seconds, and tell what was read for it."""

    def keep(seconds=math.inf):
        objects.read_locations.clear()
        athena.keep(objects, catalogue, kept, seconds)
        return sorted(place.split("/")[-1][0] for place in objects.read_locations)

    return keep


@pytest.fixture
def stored(objects):
    """Batches abcd and ef, and g and h, which are read by themselves."""
    for year, name in (*((2025, name) for name in "abcdefg"), (2026, "h")):
        objects.put(place(year, name), row(name))


@pytest.mark.usefixtures("stored")
def test_the_objects_of_a_batch_are_read_once(ask):
    first, read = ask()
    again, read_again = ask()

    assert ("".join(read), "".join(read_again)) == ("abcdefgh", "gh")
    assert again == first
    assert [cells[:3] for cells in first[-2:]] == [
        ["rocksdb", "2025", "g"],
        ["rocksdb", "2026", "h"],
    ]


@pytest.mark.usefixtures("stored")
def test_another_query_takes_other_columns_from_what_is_kept(ask):
    ask()

    assert ask("SELECT count(*) FROM rates") == ([["8"]], ["g", "h"])
    assert ask("SELECT sum(samples) FROM rates") == ([[None]], ["g", "h"])


@pytest.mark.usefixtures("stored")
def test_an_object_that_is_added_costs_no_batch_but_the_one_that_it_fills(ask, objects):
    ask()
    objects.put(place(2026, "i"), row("i"))
    assert ask()[1] == ["g", "h", "i"]
    assert ask()[1] == ["g"]

    objects.put(place(2025, "gg"), row("gg"))
    assert "".join(ask()[1]) == "efgg"


@pytest.mark.usefixtures("stored")
def test_an_object_that_is_written_anew_is_read_again_with_its_batch(ask, objects):
    ask()
    objects.put(place(2025, "f"), row("f", value=2.5))

    rows, read = ask()

    assert (rows[5][3], read) == ("2.5", ["e", "f", "g", "h"])


@pytest.mark.usefixtures("stored")
def test_an_object_that_is_written_anew_while_it_is_read_is_not_kept_for_the_old_one(ask, objects):
    old = objects.bodies[place(2025, "e")]
    read = objects.read

    def overtaken(location):
        objects.put(place(2025, "e"), row("e", value=2.5))
        return read(location)

    objects.read = overtaken
    assert ask()[0][4][3] == "2.5"
    objects.read = read
    objects.bodies[place(2025, "e")] = old
    assert ask()[0][4][3] == "1.5"


@pytest.mark.usefixtures("stored")
def test_what_is_kept_beforehand_is_not_read_by_a_query(ask, keep, files):
    assert "".join(keep()) == "abcdef"
    assert ask()[1] == ["g", "h"]
    assert keep() == []
    assert len(files()) == 2


@pytest.mark.usefixtures("stored")
def test_what_nobody_asks_for_any_more_is_removed(keep, objects, files):
    keep()
    old = files()
    unfinished = next(iter(old.values())).with_suffix(".unfinished")
    unfinished.write_text("of a process that was killed")
    del objects.bodies[place(2025, "d")]

    keep()

    assert len(files()) == 2
    assert not files().keys() & (old.keys() | {unfinished.name})


@pytest.mark.usefixtures("stored")
def test_nothing_is_kept_beforehand_when_the_time_is_over_or_objects_are_damaged(
    ask, keep, objects
):
    objects.bodies[place(2025, "a")] = b"damaged"

    assert keep(seconds=0) == []
    assert "".join(keep()) == "abcdef"
    with pytest.raises(athena.QueryError, match="is not gzipped"):
        ask()


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("left", [0, 3, -1])
def test_a_file_that_is_cut_short_is_written_again(ask, files, left):
    first, _ = ask()
    for file in files().values():
        file.write_bytes(file.read_bytes()[:left])

    assert (ask()[0], ask()[1]) == (first, ["g", "h"])


NAMES = st.sampled_from("abcdefghij")


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(NAMES, st.none() | st.integers(0, 9), st.booleans()), max_size=15))
def test_whatever_is_put_or_deleted_an_answer_is_that_of_the_objects(changes):
    partitions = {"suite": "string", "year": "int"}
    rates = described("rates", LOCATION, COLUMNS, partitions, PROJECTION)
    objects, catalogue = MemoryObjects(), {"tidemark": {"rates": rates}}

    def ask(kept):
        query = "SELECT run_id, value FROM rates ORDER BY run_id"
        return athena.run(query, objects, catalogue, database="tidemark", kept=kept).rows

    with tempfile.TemporaryDirectory() as folder:
        kept = athena.KeptRows(Path(folder), batch_sizes=(4, 2))
        for name, value, keeps in changes:
            if value is None:
                objects.bodies.pop(place(2025, name), None)
            else:
                objects.put(place(2025, name), row(name, value=value))
            if keeps:
                athena.keep(objects, catalogue, kept, math.inf)
        assert ask(kept) == ask(None)


@pytest.mark.usefixtures("stored")
def test_a_value_that_does_not_fit_is_an_error_to_who_asks_for_it_only(ask, objects):
    text = json.dumps(row("a", samples="many"))
    objects.bodies[place(2025, "a")] = gzip.compress(text.encode())

    assert len(ask()[0]) == 8
    with pytest.raises(athena.QueryError, match="Field samples of type int"):
        ask("SELECT sum(samples) FROM rates")


@pytest.mark.usefixtures("stored")
def test_a_folder_that_cannot_be_written_to_keeps_no_query_from_its_answer(ask, tmp_path):
    (tmp_path / "kept").write_text("in the way")

    assert len(ask()[0]) == 8
