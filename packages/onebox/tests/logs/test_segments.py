"""The folding and merging of segments: every event is stored once, whatever is killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import duckdb
import pytest

from cwli.insights import run
from onebox.logs import segments
from onebox.logs.store import LogStore, LogStoreError

WRITER = """
import sys
from pathlib import Path
from onebox.logs.store import LogStore
store = LogStore(Path(sys.argv[1]), segment_events=40, templated_bytes=0)
first = int(sys.argv[2])
for number in range(first, first + 100_000):
    store.append("g", "s", [(number, str(number)), (number, f"{number}+")], 0)
    print(number, flush=True)
"""


def queried(store: LogStore, group: str = "g") -> list[str]:
    result = run("fields @message | sort @timestamp, @message", store.events([group]), limit=10_000)
    return [row[0]["value"] for row in result.rows]


def read(store: LogStore) -> list[str]:
    return [event.message for event in store.read("g")]


def suffixes(folder: Path) -> list[str]:
    return sorted(path.suffix for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def store(tmp_path) -> LogStore:
    return LogStore(tmp_path)


def test_folded_events_are_the_appended_events(tmp_path, store):
    other = LogStore(tmp_path)
    for number in (3, 1, 2):
        store.append("g", f"s{number}", [(number, f'{number} "é"\n')], number + 10)
    other.append("g", "t", [(0, "x")], 9)
    before = store.read("g")
    store.close()
    other.close()
    assert store.read("g") == before
    assert queried(store) == [event.message for event in before]
    assert store.read("g", stream="s2", start=2, end=2) == before[2:3]
    assert store.streams("g") == ["s1", "s2", "s3", "t"]
    store.append("g", "s4", [(4, "later")], 0)
    assert read(store) == queried(store) == [*(event.message for event in before), "later"]
    assert store.streams("g")[-2:] == ["s4", "t"]


def test_any_parquet_tool_reads_the_events_sorted_by_time(tmp_path, store):
    store.append("/a/b", "s", [(2, "second"), (1, "first")], 3)
    store.close()
    table = duckdb.read_parquet(str(tmp_path / "*" / "*.parquet"))
    assert table.columns == [
        "log_group", "id", "timestamp", "ingestion_time", "log_stream", "message", "size",
    ]  # fmt: skip
    rows = [(row[0], *row[2:]) for row in table.fetchall()]
    assert rows == [("/a/b", 1, 3, "s", "first", 5), ("/a/b", 2, 3, "s", "second", 6)]
    kinds = duckdb.sql(
        f"SELECT DISTINCT compression FROM parquet_metadata('{tmp_path}/*/*.parquet')"
    )
    assert kinds.fetchall() == [("ZSTD",)]


def test_a_full_file_is_folded_while_further_events_are_appended(tmp_path):
    store = LogStore(tmp_path, segment_events=10)
    for number in range(35):
        store.append("g", "s", [(number, str(number))], 0)
    store.fold()
    assert suffixes(tmp_path) == [".ndjson"] * 4 + [".parquet"] * 3 + [".sha256"] * 3
    assert read(store) == queried(store) == [str(number) for number in range(35)]


def test_a_file_that_another_process_appends_to_is_not_folded(tmp_path, store):
    store.append("g", "s", [(1, "x")], 0)
    LogStore(tmp_path).fold()
    assert suffixes(tmp_path) == [".ndjson"]
    store.append("g", "s", [(2, "y")], 0)
    assert read(store) == ["x", "y"]


def test_folded_lines_stay_for_earlier_readers_and_are_removed_later(tmp_path, store):
    store.append("g", "s", [(1, "x")], 0)
    earlier = store.events(["g"])
    store.close()
    assert run("stats count(*) as n", earlier).rows == [[{"field": "n", "value": "1"}]]
    assert suffixes(tmp_path) == [".ndjson", ".parquet", ".sha256"]
    hours_ago = time.time() - 4000
    for file in tmp_path.rglob("*.parquet"):
        os.utime(file, (hours_ago, hours_ago))
    store.fold()
    assert suffixes(tmp_path) == [".parquet", ".sha256"]
    assert read(store) == ["x"]


class Killed(BaseException):
    """An exception that stands for a killed process."""


def kill_at(monkeypatch, step, nth, act, *, done=False) -> None:
    """Kill the process of an act before its nth call of a step, or after it if that is done."""
    owner = os if step == "fsync" else Path
    original = getattr(owner, step)
    remaining = [nth]

    def kill(*arguments, **options):
        remaining[0] -= 1
        if remaining[0] or done:
            original(*arguments, **options)
        if not remaining[0]:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, kill)
        with pytest.raises(Killed):
            act()


@pytest.mark.parametrize(
    ("step", "nth"), [("fsync", 1), ("fsync", 2), ("fsync", 3), ("replace", 1), ("replace", 2)]
)
def test_folding_that_is_killed_before_any_step_is_repeated(tmp_path, monkeypatch, step, nth):
    store = LogStore(tmp_path, templated_bytes=0)
    store.append("g", "s", [(number, str(number)) for number in range(20)], 0)
    kill_at(monkeypatch, step, nth, store.close)
    expected = [str(number) for number in range(20)]
    assert read(store) == queried(store) == expected
    store.fold()
    assert read(store) == queried(store) == expected
    assert suffixes(tmp_path) == [".ndjson", ".parquet", ".sha256"]


@pytest.mark.parametrize("seed", range(2))
def test_every_acknowledged_event_is_stored_once_after_a_kill(tmp_path, seed):
    chance = random.Random(seed)
    acknowledged = []
    for first in (0, 100_000):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(first)], stdout=subprocess.PIPE
        ) as writer:
            for _ in range(chance.randrange(1, 300)):
                acknowledged.append(int(writer.stdout.readline()))
            writer.send_signal(signal.SIGKILL)
            acknowledged += map(int, writer.stdout)
    store = LogStore(tmp_path)
    for _ in range(2):
        messages = read(store)
        assert sorted(queried(store)) == sorted(messages)
        assert len(messages) == len(set(messages))
        assert {text for n in acknowledged for text in (str(n), f"{n}+")} <= set(messages)
        # Each of the two writers may have stored its last append without acknowledging it.
        assert len(messages) <= 2 * len(acknowledged) + 4
        store.fold()


@pytest.mark.parametrize("damage", [b'{"id": 1, "tim\n', b"\0\0\0\0\n", b"[]\n", b'{"id": "1"}\n'])
def test_queries_and_folding_stop_at_a_damaged_line_and_name_its_file(tmp_path, caplog, damage):
    store = LogStore(tmp_path)
    store.append("g", "s", [(1, "x")], 0)
    store.append("g", "s", [(2, "y")], 0)
    (file,) = (tmp_path / "g").iterdir()
    first, second = file.read_bytes().splitlines(keepends=True)
    del store
    file.write_bytes(first + damage + second)
    later = LogStore(tmp_path)
    with pytest.raises(LogStoreError, match=r"\.ndjson"):
        later.fold()
    later.close()
    assert ".ndjson" in caplog.text
    assert suffixes(tmp_path) == [".ndjson"]
    with pytest.raises(LogStoreError, match="line 2: not an event"):
        later.read("g")
    with pytest.raises(LogStoreError, match="line 2 changed"):
        queried(later)


EVENTS = [str(number) for number in range(10)]


def files(folder: Path, pattern: str = "*.parquet") -> list[Path]:
    return sorted((folder / "g").glob(pattern))


def grow_old(folder: Path, seconds: float = 4000) -> None:
    for path in (folder / "g").iterdir():
        os.utime(path, (time.time() - seconds,) * 2)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """A store of ten Parquet segments of one event each, without JSON lines."""
    folder: Path = tmp_path_factory.mktemp("small")
    add_small(folder, enumerate(EVENTS))
    return folder


def add_small(folder: Path, events: Iterable[tuple[int, str]]) -> None:
    """Add a Parquet segment for each event."""
    for event in events:
        LogStore(folder).append("g", "s", [event], 0)
    before = files(folder, "*.sources")
    LogStore(folder).fold()
    assert files(folder, "*.sources") == before, "their JSON lines still exist"
    for path in files(folder, "*.ndjson"):
        path.unlink()


@pytest.fixture
def unmerged(tmp_path, small) -> LogStore:
    shutil.copytree(small, tmp_path, dirs_exist_ok=True)
    return LogStore(tmp_path)


def check(store: LogStore) -> None:
    assert read(store) == queried(store) == EVENTS
    assert store.streams("g") == ["s"]


def test_small_segments_are_merged_and_removed_later(tmp_path, unmerged):
    unmerged.fold()
    check(unmerged)
    assert len(files(tmp_path)) == 11
    unmerged.fold()
    assert len(files(tmp_path)) == 11, "there is nothing more to merge"
    grow_old(tmp_path)
    unmerged.fold()
    assert len(files(tmp_path)) == 1
    assert len(files(tmp_path, "*.sources")) == 1
    check(unmerged)
    grow_old(tmp_path, 8000)
    unmerged.fold()
    assert [path.suffix for path in files(tmp_path, "*")] == [".parquet", ".sha256"]
    check(unmerged)


def test_a_reader_that_listed_the_sources_reads_them_after_the_merge(unmerged):
    events = unmerged.events(["g"])
    unmerged.fold()
    assert run("stats count(*) as n", events).rows == [[{"field": "n", "value": "10"}]]


def test_few_segments_and_half_full_segments_are_not_merged(tmp_path, unmerged):
    LogStore(tmp_path, segment_events=2).fold()
    files(tmp_path)[0].unlink()
    files(tmp_path)[0].unlink()
    files(tmp_path)[0].unlink()
    unmerged.fold()
    assert files(tmp_path, "*.sources") == []


def test_a_merged_segment_is_merged_again_after_its_sources_are_removed(tmp_path, unmerged):
    unmerged.fold()
    later = [f"later {number}" for number in range(segments.MIN_FILES - 1)]
    add_small(tmp_path, ((99 + number, text) for number, text in enumerate(later)))
    unmerged.fold()
    assert len(files(tmp_path, "*.sources")) == 1, "its sources still exist"
    for seconds in (8000, 8000, 0, 4000):
        grow_old(tmp_path, seconds)
        unmerged.fold()
    assert len(files(tmp_path)) == 1
    assert read(unmerged) == [*EVENTS, *later]


@pytest.mark.parametrize(
    ("step", "nth"),
    [*(("fsync", nth) for nth in range(1, 6)), *(("replace", nth) for nth in range(1, 4))],
)
def test_a_merge_that_is_killed_before_any_step_loses_nothing(
    tmp_path, monkeypatch, unmerged, step, nth
):
    kill_at(monkeypatch, step, nth, unmerged.fold)
    check(unmerged)
    for seconds in (0, 4000, 8000, 8000):
        grow_old(tmp_path, seconds)
        unmerged.fold()
        check(unmerged)
    assert [path.suffix for path in files(tmp_path, "*")] == [".parquet", ".sha256"]


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("nth", [1, 5, 10])
def test_the_removal_of_sources_may_be_killed_at_any_step(
    tmp_path, monkeypatch, unmerged, nth, done
):
    unmerged.fold()
    grow_old(tmp_path, 8000)
    kill_at(monkeypatch, "unlink", nth, unmerged.fold, done=done)
    check(unmerged)
    for _ in range(2):
        unmerged.fold()
        check(unmerged)
    assert [path.suffix for path in files(tmp_path, "*")] == [".parquet", ".sha256"]


def test_segments_that_another_process_merges_are_not_merged(tmp_path, unmerged):
    folder = tmp_path / "g"
    with segments._merge_lock(folder) as free:
        assert free
        unmerged.fold()
    assert files(tmp_path, "*.sources") == []
    check(unmerged)
