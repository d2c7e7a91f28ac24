"""The cache of the rows of objects, and the cases in which objects are read again."""

import gzip
import json
import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import (
    COLUMNS,
    LOCATION,
    PROJECTION,
    MemoryObjects,
    table_description,
)

from onebox.athena import api as athena

QUERY = "SELECT suite, year, run_id, value, started_at, versions FROM rates ORDER BY run_id"


def place(year, name):
    return f"{LOCATION}suite=rocksdb/year={year}/{name}.jsonl.gz"


def row(name, **more):
    times = {"started_at": "2026-11-20 12:44:55.678", "versions": ["9.0.0", None]}
    return {"run_id": name, "value": 1.5, **times, **more}


@pytest.fixture
def kept(tmp_path):
    return athena.RowCache(tmp_path / "kept", batch_sizes=(4, 2))


@pytest.fixture
def files(tmp_path):
    """A function that returns the existing files by name."""
    return lambda: {file.name: file for file in (tmp_path / "kept").rglob("*.parquet")}


@pytest.fixture
def ask(objects, catalogue, kept):
    """A function that returns the rows of a query and the names of the objects that it read."""

    def ask(query=QUERY):
        objects.read_locations.clear()
        result = athena.run(query, objects, catalogue, database="tidemark", kept=kept)
        return result.rows, sorted(place.split("/")[-1][0] for place in objects.read_locations)

    return ask


@pytest.fixture
def keep(objects, catalogue, kept):
    """A function that caches rows for some seconds and returns the names of the objects read."""

    def keep(seconds=math.inf):
        objects.read_locations.clear()
        athena.keep(objects, catalogue, kept, seconds)
        return sorted(place.split("/")[-1][0] for place in objects.read_locations)

    return keep


@pytest.fixture
def stored(objects):
    """The batches abcd and ef, and the single objects g and h."""
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
def test_another_query_takes_other_columns_from_the_cache(ask):
    ask()

    assert ask("SELECT count(*) FROM rates") == ([["8"]], ["g", "h"])
    assert ask("SELECT sum(samples) FROM rates") == ([[None]], ["g", "h"])


@pytest.mark.usefixtures("stored")
def test_a_new_object_changes_only_the_batch_that_it_fills(ask, objects):
    ask()
    objects.put(place(2026, "i"), row("i"))
    assert ask()[1] == ["g", "h", "i"]
    assert ask()[1] == ["g"]

    objects.put(place(2025, "gg"), row("gg"))
    assert "".join(ask()[1]) == "efgg"


@pytest.mark.usefixtures("stored")
def test_a_changed_object_is_read_again_with_its_batch(ask, objects):
    ask()
    objects.put(place(2025, "f"), row("f", value=2.5))

    rows, read = ask()

    assert (rows[5][3], read) == ("2.5", ["e", "f", "g", "h"])


@pytest.mark.usefixtures("stored")
def test_an_object_that_changes_while_it_is_read_is_not_cached_as_the_old_one(ask, objects):
    old = objects.bodies[place(2025, "e")]
    read = objects.read

    def overtake(location):
        objects.put(place(2025, "e"), row("e", value=2.5))
        return read(location)

    objects.read = overtake
    assert ask()[0][4][3] == "2.5"
    objects.read = read
    objects.bodies[place(2025, "e")] = old
    assert ask()[0][4][3] == "1.5"


@pytest.mark.usefixtures("stored")
def test_a_query_does_not_read_objects_that_were_cached_beforehand(ask, keep, files):
    assert "".join(keep()) == "abcdef"
    assert ask()[1] == ["g", "h"]
    assert keep() == []
    assert len(files()) == 2


@pytest.mark.usefixtures("stored")
def test_files_that_are_no_longer_used_are_removed(keep, objects, files):
    keep()
    old = files()
    unfinished = next(iter(old.values())).with_suffix(".unfinished")
    unfinished.write_text("of a killed process")
    del objects.bodies[place(2025, "d")]

    keep()

    assert len(files()) == 2
    assert not files().keys() & old.keys()
    assert len(list(unfinished.parent.iterdir())) == 4  # each has its digest


@pytest.mark.usefixtures("stored")
def test_no_rows_are_cached_after_the_time_limit_or_from_damaged_objects(ask, keep, objects):
    objects.bodies[place(2025, "a")] = b"damaged"

    assert keep(seconds=0) == []
    assert "".join(keep()) == "abcdef"
    with pytest.raises(athena.QueryError, match="is not gzipped"):
        ask()


def cut(size):
    return lambda content: content[:size]


def flip(content):
    """Return a Parquet file of other values, whose form is whole."""
    place = content.index(b"rocksdb")
    return content[:place] + b"R" + content[place + 1 :]


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("harm", [cut(0), cut(3), cut(-1), flip])
def test_a_damaged_file_is_written_again(ask, files, harm):
    first, _ = ask()
    for file in files().values():
        file.write_bytes(harm(file.read_bytes()))

    assert (ask()[0], ask()[1]) == (first, ["g", "h"])


NAMES = st.sampled_from("abcdefghij")


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(NAMES, st.none() | st.integers(0, 9), st.booleans()), max_size=15))
def test_an_answer_matches_the_objects_after_any_changes(changes):
    partitions = {"suite": "string", "year": "int"}
    rates = table_description("rates", LOCATION, COLUMNS, partitions, PROJECTION)
    objects, catalogue = MemoryObjects(), {"tidemark": {"rates": rates}}

    def ask(kept):
        query = "SELECT run_id, value FROM rates ORDER BY run_id"
        return athena.run(query, objects, catalogue, database="tidemark", kept=kept).rows

    with tempfile.TemporaryDirectory() as folder:
        kept = athena.RowCache(Path(folder), batch_sizes=(4, 2))
        for name, value, keeps in changes:
            if value is None:
                objects.bodies.pop(place(2025, name), None)
            else:
                objects.put(place(2025, name), row(name, value=value))
            if keeps:
                athena.keep(objects, catalogue, kept, math.inf)
        assert ask(kept) == ask(None)


@pytest.mark.usefixtures("stored")
def test_a_wrong_value_is_an_error_only_in_queries_of_its_column(ask, objects):
    text = json.dumps(row("a", samples="many"))
    objects.bodies[place(2025, "a")] = gzip.compress(text.encode())

    assert len(ask()[0]) == 8
    with pytest.raises(athena.QueryError, match="Field samples of type int"):
        ask("SELECT sum(samples) FROM rates")


@pytest.mark.usefixtures("stored")
def test_a_query_succeeds_if_the_folder_cannot_be_written_to(ask, tmp_path):
    (tmp_path / "kept").write_text("in the way")

    assert len(ask()[0]) == 8
