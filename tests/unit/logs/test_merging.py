"""Small Parquet segments that become one: no event lost and none twice, whatever is killed."""

import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from local.insights import run
from local.logs import merging
from local.logs.store import LogStore

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
    """A store of ten Parquet segments of an event each, whose lines are gone."""
    folder: Path = tmp_path_factory.mktemp("small")
    add_small(folder, enumerate(EVENTS))
    return folder


def add_small(folder: Path, events: Iterable[tuple[int, str]]) -> None:
    """Add a Parquet segment for each event."""
    for event in events:
        LogStore(folder).append("g", "s", [event], 0)
    before = files(folder, "*.sources")
    LogStore(folder).fold()
    assert files(folder, "*.sources") == before, "their lines are there"
    for path in files(folder, "*.ndjson"):
        path.unlink()


@pytest.fixture
def store(tmp_path, small) -> LogStore:
    shutil.copytree(small, tmp_path, dirs_exist_ok=True)
    return LogStore(tmp_path)


def check(store: LogStore) -> None:
    assert read(store) == queried(store) == EVENTS
    assert store.streams("g") == ["s"]


def test_small_segments_become_one_and_go_later(tmp_path, store):
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
    assert [path.suffix for path in files(tmp_path, "*")] == [".parquet"]
    check(store)


def test_a_reader_that_listed_the_sources_reads_them_after_the_merge(store):
    events = store.events(["g"])
    store.fold()
    assert run("stats count(*) as n", events).rows == [[{"field": "n", "value": "10"}]]


def test_few_segments_and_those_that_are_half_full_stay(tmp_path, store):
    LogStore(tmp_path, segment_events=2).fold()
    files(tmp_path)[0].unlink()
    files(tmp_path)[0].unlink()
    files(tmp_path)[0].unlink()
    store.fold()
    assert files(tmp_path, "*.sources") == []


def test_a_merged_segment_is_merged_again_when_its_sources_are_gone(tmp_path, store):
    store.fold()
    later = [f"later {number}" for number in range(merging.FEWEST_FILES - 1)]
    add_small(tmp_path, ((99 + number, text) for number, text in enumerate(later)))
    store.fold()
    assert len(files(tmp_path, "*.sources")) == 1, "its sources are there"
    for seconds in (8000, 8000, 0, 4000):
        grow_old(tmp_path, seconds)
        store.fold()
    assert len(files(tmp_path)) == 1
    assert read(store) == [*EVENTS, *later]


class Killed(BaseException):
    """What ends a process in the middle."""


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_merging_that_is_ended_at_any_step_loses_nothing(
    tmp_path, monkeypatch, store, step, nth, done
):
    ended_at(monkeypatch, os if step == "fsync" else Path, step, nth, done, store)
    check(store)
    for seconds in (0, 4000, 8000, 8000):
        grow_old(tmp_path, seconds)
        store.fold()
        check(store)
    assert [path.suffix for path in files(tmp_path, "*")] == [".parquet"]


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("nth", [1, 5, 10])
def test_removing_what_was_merged_may_be_ended_at_any_step(tmp_path, monkeypatch, store, nth, done):
    store.fold()
    grow_old(tmp_path, 8000)
    ended_at(monkeypatch, Path, "unlink", nth, done, store)
    check(store)
    for _ in range(2):
        store.fold()
        check(store)
    assert [path.suffix for path in files(tmp_path, "*")] == [".parquet"]


def ended_at(monkeypatch, owner, step, nth, done, store) -> None:
    """Fold a store, ended before or after a step happens for the nth time."""
    original = getattr(owner, step)
    left = [nth]

    def killed(*arguments, **options):
        left[0] -= 1
        if left[0] or done:
            original(*arguments, **options)
        if not left[0]:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, killed)
        with pytest.raises(Killed):
            store.fold()


def test_what_another_process_merges_is_left_to_it(tmp_path, store):
    folder = tmp_path / "g"
    with merging._only_one(folder) as free:
        assert free
        store.fold()
    assert files(tmp_path, "*.sources") == []
    check(store)
