"""What queries took from segments: kept, right, bounded, and never out of date."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from local.insights import run
from local.logs.parsed import ParsedCache
from local.logs.store import LogStore

MEAN = "parse 'n=*;' as n | filter n > 1 | stats avg(n) as mean, count(*) as rows"
QUERIES = (
    MEAN,
    "parse 'n=*;' as n | filter @message like /n/ | stats sum(n), max(@timestamp) by bin(1s)",
    "filter @logStream = 's' | parse 'n=*;' as n | display n | sort n desc | limit 3",
    "parse /n=(?<n>[0-9]+)/ | filter unknown.field > 3 or n > 2 | stats count(*) by n",
    "filter @message in (filter @message like 'n=3' | fields @message) | stats count(*)",
    "filter queryStartTime() > 0 and @message like 'n' | stats count(*)",
    "fields @message, @ptr",
)


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "parsed"


def stored(tmp_path: Path, cache: ParsedCache | None) -> LogStore:
    """Return a store with three Parquet segments and one that is appended to."""
    there = tmp_path / "logs"
    store = LogStore(there, segment_events=10, cache=cache)
    if not there.exists():
        for number in range(35):
            store.append("g", "s", [(number * 100, f"n={number};")], 0)
        store.fold()
    return store


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("window", [(None, None), (1, 2)])
def test_a_query_answers_the_same_with_the_cache_without_it_and_again(
    tmp_path, folder, query, window
):
    plain = run(query, stored(tmp_path, None).events(["g"]), *window)
    store = stored(tmp_path, ParsedCache(folder, worthwhile_bytes=0))
    for bounds in (window, (None, None), window):
        result = run(query, store.events(["g"]), *bounds)
        if bounds == window:
            assert result == plain


def test_what_was_taken_from_messages_is_read_instead_of_them(tmp_path, folder):
    store = stored(tmp_path, ParsedCache(folder, worthwhile_bytes=0))
    first = run(MEAN, store.events(["g"]))
    assert len(list(folder.iterdir())) == 3
    assert "n=" not in "".join(path.read_bytes().decode("latin-1") for path in folder.iterdir())
    kept = {path: path.read_bytes() for path in folder.iterdir()}
    wrong = next(iter(kept))
    for path in kept:
        path.write_bytes(kept[wrong])
    assert run(MEAN, store.events(["g"])) != first


@pytest.mark.parametrize("query", [QUERIES[4], QUERIES[5], QUERIES[6], "stats count(*) by bin(1s)"])
def test_what_depends_on_other_events_or_the_time_or_needs_messages_is_not_kept(
    tmp_path, folder, query
):
    run(query, stored(tmp_path, ParsedCache(folder, worthwhile_bytes=0)).events(["g"]))
    assert not folder.exists()


def test_nothing_is_kept_of_a_small_segment(tmp_path, folder):
    run(MEAN, stored(tmp_path, ParsedCache(folder)).events(["g"]))
    assert not folder.exists()


@pytest.mark.parametrize(
    ("window", "kept"), [((0, 3), 3), ((0, 2), 3), ((0, 1), 2), ((1, 1), 1), ((None, 0), 1)]
)
def test_a_query_of_a_window_keeps_the_rows_of_the_segments_that_are_within(
    tmp_path, folder, window, kept
):
    store = stored(tmp_path, ParsedCache(folder, worthwhile_bytes=0))
    run(MEAN, store.events(["g"]), *window)
    assert len(list(folder.iterdir())) == kept


def test_a_segment_that_is_another_under_the_same_name_is_read_anew(tmp_path, folder):
    store = stored(tmp_path, ParsedCache(folder, worthwhile_bytes=0))
    first = run(MEAN, store.events(["g"]))
    smallest, largest = sorted((tmp_path / "logs").rglob("*.parquet"))[::2]
    smallest.write_bytes(largest.read_bytes())
    assert run(MEAN, store.events(["g"])) != first


def test_what_was_not_used_for_longest_makes_room(tmp_path, folder):
    store = stored(tmp_path, ParsedCache(folder, worthwhile_bytes=0))
    run(MEAN, store.events(["g"]))
    size = sum(path.stat().st_size for path in folder.iterdir())
    small = stored(tmp_path, ParsedCache(folder, size + 1, worthwhile_bytes=0))
    first = set(folder.iterdir())
    run(QUERIES[1], small.events(["g"]))
    assert set(folder.iterdir()) == first, "all was used within the hour"
    for path in first:
        os.utime(path, (time.time() - 4000,) * 2)
    (folder / "left.1-ab").touch()
    os.utime(folder / "left.1-ab", (0, 0))
    run(QUERIES[1], small.events(["g"]))
    assert not (folder / "left.1-ab").exists()
    assert not first <= set(folder.iterdir())
    assert sum(path.stat().st_size for path in folder.iterdir()) <= size + 1


def test_a_folder_that_cannot_be_written_to_costs_no_answer(tmp_path, folder):
    folder.touch()
    plain = run(MEAN, stored(tmp_path, None).events(["g"]))
    store = stored(tmp_path, ParsedCache(folder, worthwhile_bytes=0))
    assert run(MEAN, store.events(["g"])) == plain


KILLED = """
import os, sys
from pathlib import Path
from local.insights import run
from local.logs.parsed import ParsedCache
from local.logs.store import LogStore
def killed(*arguments): os._exit(9)
owner, step = (os, "fsync") if sys.argv[3] == "fsync" else (Path, "replace")
setattr(owner, step, killed)
store = LogStore(Path(sys.argv[1]), cache=ParsedCache(Path(sys.argv[2]), worthwhile_bytes=0))
run(sys.argv[4], store.events(["g"]))
"""


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_process_killed_while_it_keeps_rows_leaves_none_that_count(tmp_path, folder, step):
    plain = run(MEAN, stored(tmp_path, None).events(["g"]))
    command = [sys.executable, "-c", KILLED, tmp_path / "logs", folder, step, MEAN]
    assert subprocess.run(command, check=False).returncode == 9
    assert [path for path in folder.iterdir() if path.suffix == ".parquet"] == []
    store = stored(tmp_path, ParsedCache(folder, worthwhile_bytes=0))
    assert run(MEAN, store.events(["g"])) == plain
