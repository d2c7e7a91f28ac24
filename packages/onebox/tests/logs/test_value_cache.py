"""The cache of the rows of queries: correct, bounded and never out of date."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cwli.insights import QueryResult, run
from onebox.logs.store import LogStore
from onebox.logs.value_cache import ValueCache

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


def make_store(tmp_path: Path, cache: ValueCache | None) -> LogStore:
    """Return a store with three Parquet segments and an open one."""
    folder = tmp_path / "logs"
    store = LogStore(folder, segment_events=10, cache=cache)
    if not folder.exists():
        for number in range(35):
            store.append("g", "s", [(number * 100, f"n={number};")], 0)
        store.fold()
    return store


def asked_twice(query: str, store: LogStore, *window: int | None) -> QueryResult:
    """Return the second answer to a query, whose rows are kept."""
    run(query, store.events(["g"]), *window)
    return run(query, store.events(["g"]), *window)


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_returns_the_same_rows_with_and_without_the_cache(tmp_path, folder, query):
    plain, always, within = make_store(tmp_path, None), (None, None), (1, 2)
    expected = {each: run(query, plain.events(["g"]), *each) for each in (always, within)}
    store = make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0))
    for window in (within, always, within, always):
        assert run(query, store.events(["g"]), *window) == expected[window]


def test_cached_rows_are_read_instead_of_messages(tmp_path, folder):
    store = make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0))
    first = asked_twice(MEAN, store)
    assert len(list(folder.glob("*.parquet"))) == 3
    contents = {path: path.read_bytes() for path in folder.glob("*.parquet")}
    assert "n=" not in b"".join(contents.values()).decode("latin-1")
    wrong = next(iter(contents.values()))
    for path in contents:
        path.write_bytes(wrong)
    assert run(MEAN, store.events(["g"])) != first


def test_the_rows_of_a_query_that_is_asked_once_are_not_kept(tmp_path, folder):
    for query in QUERIES[:3]:
        run(query, make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0)).events(["g"]))
    assert list(folder.glob("*.parquet")) == []


def test_damaged_rows_are_made_again(tmp_path, folder):
    first = asked_twice(MEAN, make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0)))
    damaged, other = sorted(folder.glob("*.parquet"))[:2]
    whole = damaged.read_bytes()
    damaged.write_bytes(other.read_bytes())
    later = make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0))
    assert run(MEAN, later.events(["g"])) == first
    assert damaged.read_bytes() == whole


@pytest.mark.parametrize("query", [QUERIES[4], QUERIES[5], QUERIES[6], "stats count(*) by bin(1s)"])
def test_rows_that_need_other_events_the_time_or_messages_are_not_kept(tmp_path, folder, query):
    asked_twice(query, make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0)))
    assert not folder.exists()


def test_the_rows_of_a_small_segment_are_not_kept(tmp_path, folder):
    asked_twice(MEAN, make_store(tmp_path, ValueCache(folder)))
    assert not folder.exists()


@pytest.mark.parametrize(
    ("window", "kept"), [((0, 3), 3), ((0, 2), 3), ((0, 1), 2), ((1, 1), 1), ((None, 0), 1)]
)
def test_a_query_keeps_the_rows_of_the_segments_within_its_window(tmp_path, folder, window, kept):
    store = make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0))
    asked_twice(MEAN, store, *window)
    assert len(list(folder.glob("*.parquet"))) == kept


def test_a_segment_that_was_replaced_is_read_again(tmp_path, folder):
    store = make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0))
    first = asked_twice(MEAN, store)
    smallest, largest = sorted((tmp_path / "logs").rglob("*.parquet"))[::2]
    smallest.write_bytes(largest.read_bytes())
    assert run(MEAN, store.events(["g"])) != first


def test_the_least_recently_used_files_make_room(tmp_path, folder):
    store = make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0))
    asked_twice(MEAN, store)
    size = sum(path.stat().st_size for path in folder.glob("*.parquet"))
    small = make_store(tmp_path, ValueCache(folder, size + 1, worthwhile_bytes=0))
    first = set(folder.glob("*.parquet"))
    asked_twice(QUERIES[1], small)
    assert set(folder.glob("*.parquet")) == first, "all files were used within the last hour"
    for path in first:
        os.utime(path, (time.time() - 4000,) * 2)
    (folder / "left.1-ab").touch()
    os.utime(folder / "left.1-ab", (0, 0))
    asked_twice(QUERIES[1], small)
    assert not (folder / "left.1-ab").exists()
    assert not first <= set(folder.glob("*.parquet"))
    assert sum(path.stat().st_size for path in folder.glob("*.parquet")) <= size + 1


def test_a_query_succeeds_if_the_folder_cannot_be_written_to(tmp_path, folder):
    folder.touch()
    plain = run(MEAN, make_store(tmp_path, None).events(["g"]))
    store = make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0))
    assert asked_twice(MEAN, store) == plain


KILLED_QUERY = """
import os, sys
from pathlib import Path
from cwli.insights import run
from onebox.logs.value_cache import ValueCache
from onebox.logs.store import LogStore
def kill(*arguments, **named): os._exit(9)
setattr(Path, sys.argv[3], kill)
store = LogStore(Path(sys.argv[1]), cache=ValueCache(Path(sys.argv[2]), worthwhile_bytes=0))
for _ in range(2):
    run(sys.argv[4], store.events(["g"]))
"""


@pytest.mark.parametrize("step", ["write_text", "replace"])
def test_a_process_that_is_killed_while_it_keeps_rows_leaves_no_rows(tmp_path, folder, step):
    plain = run(MEAN, make_store(tmp_path, None).events(["g"]))
    command = [sys.executable, "-c", KILLED_QUERY, tmp_path / "logs", folder, step, MEAN]
    assert subprocess.run(command, check=False).returncode == 9
    assert list(folder.glob("*.parquet")) == []
    store = make_store(tmp_path, ValueCache(folder, worthwhile_bytes=0))
    assert run(MEAN, store.events(["g"])) == plain
