"""The merging of small Parquet segments: no kill loses or repeats an event."""

import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from cwli.insights import run
from onebox.logs import segments
from onebox.logs.store import LogStore

EVENTS = [str(number) for number in range(10)]


def read(store: LogStore) -> list[str]:
    return [event.message for event in store.read("g")]


def queried(store: LogStore) -> list[str]:
    result = run("fields @message | sort @timestamp", store.events(["g"]))
    return [row[0]["value"] for row in result.rows]


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
def store(tmp_path, small) -> LogStore:
    shutil.copytree(small, tmp_path, dirs_exist_ok=True)
    return LogStore(tmp_path)


def check(store: LogStore) -> None:
    assert read(store) == queried(store) == EVENTS
    assert store.streams("g") == ["s"]


def test_small_segments_are_merged_and_removed_later(tmp_path, store):
    store.fold()
    check(store)
    assert len(files(tmp_path)) == 11
    store.fold()
    assert len(files(tmp_path)) == 11, "there is nothing more to merge"
    grow_old(tmp_path)
    store.fold()
    assert len(files(tmp_path)) == 1
    assert len(files(tmp_path, "*.sources")) == 1
    check(store)
    grow_old(tmp_path, 8000)
    store.fold()
    assert [path.suffix for path in files(tmp_path, "*")] == [".parquet", ".sha256"]
    check(store)


def test_a_reader_that_listed_the_sources_reads_them_after_the_merge(store):
    events = store.events(["g"])
    store.fold()
    assert run("stats count(*) as n", events).rows == [[{"field": "n", "value": "10"}]]


def test_few_segments_and_half_full_segments_are_not_merged(tmp_path, store):
    LogStore(tmp_path, segment_events=2).fold()
    files(tmp_path)[0].unlink()
    files(tmp_path)[0].unlink()
    files(tmp_path)[0].unlink()
    store.fold()
    assert files(tmp_path, "*.sources") == []


def test_a_merged_segment_is_merged_again_after_its_sources_are_removed(tmp_path, store):
    store.fold()
    later = [f"later {number}" for number in range(segments.MIN_FILES - 1)]
    add_small(tmp_path, ((99 + number, text) for number, text in enumerate(later)))
    store.fold()
    assert len(files(tmp_path, "*.sources")) == 1, "its sources still exist"
    for seconds in (8000, 8000, 0, 4000):
        grow_old(tmp_path, seconds)
        store.fold()
    assert len(files(tmp_path)) == 1
    assert read(store) == [*EVENTS, *later]


class Killed(BaseException):
    """An exception that stands for a killed process."""


@pytest.mark.parametrize(
    ("step", "nth"),
    [*(("fsync", nth) for nth in range(1, 6)), *(("replace", nth) for nth in range(1, 4))],
)
def test_a_merge_that_is_killed_before_any_step_loses_nothing(
    tmp_path, monkeypatch, store, step, nth
):
    kill_at(monkeypatch, os if step == "fsync" else Path, step, nth, False, store)
    check(store)
    for seconds in (0, 4000, 8000, 8000):
        grow_old(tmp_path, seconds)
        store.fold()
        check(store)
    assert [path.suffix for path in files(tmp_path, "*")] == [".parquet", ".sha256"]


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("nth", [1, 5, 10])
def test_the_removal_of_sources_may_be_killed_at_any_step(tmp_path, monkeypatch, store, nth, done):
    store.fold()
    grow_old(tmp_path, 8000)
    kill_at(monkeypatch, Path, "unlink", nth, done, store)
    check(store)
    for _ in range(2):
        store.fold()
        check(store)
    assert [path.suffix for path in files(tmp_path, "*")] == [".parquet", ".sha256"]


def kill_at(monkeypatch, owner, step, nth, done, store) -> None:
    """Fold a store, and kill the process before or after the nth call of a step."""
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
            store.fold()


def test_segments_that_another_process_merges_are_not_merged(tmp_path, store):
    folder = tmp_path / "g"
    with segments._merge_lock(folder) as free:
        assert free
        store.fold()
    assert files(tmp_path, "*.sources") == []
    check(store)
