import errno
import json
import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cwli.insights import run
from onebox.app import ACCOUNT
from onebox.logs import segments
from onebox.logs.store import LogStore, LogStoreError

AWKWARD = ["/aws/ecs/task", "..", ".", "../../up", "it's", "a b%2F", "a:b", "ü", "a\\b", "C.con"]


def messages(store: LogStore, group: str = "g", **where) -> list[str]:
    return [event.message for event in store.read(group, **where)]


def count(store: LogStore, *groups: str) -> int:
    result = run("stats count(*)", store.events(groups), 0, 4_000_000_000)
    return int(result.rows[0][0]["value"]) if result.rows else 0


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_events_are_read_back_as_they_were_appended(tmp_path):
    store = LogStore(tmp_path)
    store.append("g", "task/1", [(1000, 'say "é"\n\ttwo'), (2000, "")], 3000)
    first, second = store.read("g")
    assert (first.timestamp, first.ingestion_time, first.log_stream) == (1000, 3000, "task/1")
    assert (first.message, second.message) == ('say "é"\n\ttwo', "")
    assert first.id < second.id


def test_events_are_read_by_stream_and_time_oldest_first(tmp_path):
    store = LogStore(tmp_path)
    store.append("g", "b", [(30, "b3"), (10, "b1")], 0)
    store.append("g", "a", [(20, "a2"), (10, "a1")], 0)
    assert messages(store) == ["b1", "a1", "a2", "b3"]
    assert messages(store, stream="a") == ["a1", "a2"]
    assert messages(store, start=20) == ["a2", "b3"]
    assert messages(store, end=20) == ["b1", "a1", "a2"]
    assert messages(store, stream="b", start=10, end=10) == ["b1"]


def test_only_groups_and_streams_with_events_are_listed(tmp_path):
    store = LogStore(tmp_path / "not yet there")
    assert store.groups() == []
    assert store.read("g") == []
    assert store.streams("g") == []
    assert count(store, "g") == 0
    store.append("g", "none", [], 0)
    assert store.groups() == []
    store.append("h", "s2", [(1, "x")], 0)
    store.append("h", "s1", [(1, "x")], 0)
    assert store.groups() == ["h"]
    assert store.streams("h") == ["s1", "s2"]


@pytest.mark.parametrize("group", AWKWARD)
def test_a_group_of_any_name_stays_inside_the_folder(tmp_path, group):
    folder = tmp_path / "it's a store"
    store = LogStore(folder)
    store.append(group, "s", [(1, group)], 0)
    assert files(tmp_path) == files(folder)
    assert len(files(folder)) == 1
    assert store.groups() == [group]
    assert messages(store, group) == [group]
    result = run("fields @log, @message", store.events([group]), 0, 1)
    assert [cell["value"] for cell in result.rows[0][:2]] == [f"{ACCOUNT}:{group}", group]


@pytest.mark.parametrize("group", ["", "x" * 256, "/" * 100])
def test_a_name_that_no_folder_can_have_is_refused(tmp_path, group):
    with pytest.raises(LogStoreError, match="its percent-encoded name must have 1 to 255"):
        LogStore(tmp_path).append(group, "s", [(1, "x")], 0)


def test_a_query_reads_several_groups(tmp_path):
    store = LogStore(tmp_path)
    for number, group in enumerate(["a", "b", "c"], 1):
        store.append(group, "s", [(n, "x") for n in range(number)], 0)
    assert count(store, "a", "c", "none") == 4


def test_a_store_keeps_the_events_of_an_earlier_process(tmp_path):
    LogStore(tmp_path).append("g", "s", [(1, "before")], 0)
    store = LogStore(tmp_path)
    store.append("g", "s", [(2, "after")], 0)
    assert messages(store) == ["before", "after"]
    assert count(store, "g") == 2
    assert len(files(tmp_path)) == 2


@pytest.mark.parametrize("cut", range(1, 120, 7))
def test_a_cut_off_last_line_is_left_out(tmp_path, cut):
    store = LogStore(tmp_path)
    store.append("g", "s", [(1, "whole"), (2, 'half "} \n{"id": 1}')], 0)
    (file,) = files(tmp_path)
    file.write_bytes(file.read_bytes()[:-cut])
    # Nothing follows a cut-off line: later events go to another file.
    later = LogStore(tmp_path)
    later.append("g", "s", [(3, "later")], 0)
    assert messages(later) == ["whole", "later"]
    assert count(later, "g") == (2 if cut > 1 else 3)


def test_a_file_with_only_a_cut_off_line_has_no_events(tmp_path):
    store = LogStore(tmp_path)
    store.append("g", "s", [(1, "x")], 0)
    (file,) = files(tmp_path)
    for content in (b"", b"{", b'{"id": "1", "timest'):
        file.write_bytes(content)
        assert messages(store) == []
        assert count(store, "g") == 0


def test_events_after_a_failed_write_go_to_another_file(tmp_path):
    store = LogStore(tmp_path)
    store.append("g", "s", [(1, "before")], 0)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            store.append("g", "s", [(2, "half" * 1000)], 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    store.append("g", "s", [(3, "after")], 0)
    assert messages(store) == ["before", "after"]
    assert count(store, "g") == 2
    assert len(files(tmp_path)) == 2


def test_lines_that_cannot_be_folded_stay_and_are_folded_later(tmp_path, monkeypatch, caplog):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = LogStore(tmp_path)
    store.append("g", "s", [(1, "x")], 0)
    store.append("other", "s", [(1, "y")], 0)
    with monkeypatch.context() as full:
        full.setattr(segments, "publish", fail)
        store.close()
    assert caplog.messages == ["The lines of g stay unfolded: [Errno 28] No space left on device"]
    assert messages(store) == ["x"]

    store.close()
    assert len([*tmp_path.rglob("*.parquet")]) == 2
    assert messages(store) == ["x"]


def test_a_damaged_line_is_named(tmp_path):
    store = LogStore(tmp_path)
    store.append("g", "s", [(1, "x")], 0)
    (file,) = files(tmp_path)
    file.write_bytes(b'{"id": 1}\n' + file.read_bytes())
    with pytest.raises(LogStoreError, match="line 1: not an event"):
        store.read("g")


def test_half_a_surrogate_pair_is_replaced(tmp_path):
    store = LogStore(tmp_path)
    store.append("g", "s", [(1, "half \ud83d pair"), (2, "nul \0 byte")], 0)
    assert messages(store) == ["half ? pair", "nul \0 byte"]
    assert count(store, "g") == 2


def test_each_line_of_a_file_is_a_json_object(tmp_path):
    LogStore(tmp_path).append("g", "s", [(1, "a\nb"), (2, "c")], 5)
    (file,) = files(tmp_path)
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["message"] for line in events] == ["a\nb", "c"]


def test_threads_append_in_parallel(tmp_path):
    store = LogStore(tmp_path)

    def append(stream: int) -> None:
        for number in range(50):
            store.append("g", str(stream), [(number, "x"), (number, "y")], 0)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(append, range(8)))
    events = store.read("g")
    assert len(events) == 800
    assert len({event.id for event in events}) == 800
    assert count(store, "g") == 800


APPEND_MANY = """
import pathlib, sys
from onebox.logs.store import LogStore
store = LogStore(pathlib.Path(sys.argv[1]))
for number in range(200):
    store.append("g", sys.argv[2], [(number, "x" * 500)], 0)
"""


def test_processes_append_while_another_reads(tmp_path):
    program = [sys.executable, "-c", APPEND_MANY, tmp_path]
    writers = [subprocess.Popen([*program, stream]) for stream in ("0", "1")]
    store = LogStore(tmp_path)
    seen = [0]
    while any(writer.poll() is None for writer in writers):
        seen.append(count(store, "g"))
        assert len(store.read("g")) >= seen[-1]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert seen == sorted(seen)
    assert count(store, "g") == len(store.read("g")) == 400
    assert len(files(tmp_path)) == 2


def test_a_forked_process_does_not_write_the_files_of_its_parent(tmp_path, monkeypatch):
    store = LogStore(tmp_path)
    store.append("g", "s", [(1, "parent")], 0)
    monkeypatch.setattr("os.getpid", lambda: -1)
    store.append("g", "s", [(2, "child")], 0)
    assert len(files(tmp_path)) == 2
