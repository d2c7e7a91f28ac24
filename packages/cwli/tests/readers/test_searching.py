"""A search of text files finds the events that a query needs, or leaves the file to be read."""

import bz2
import gzip
import os
import random
import re
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from backports import zstd
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from written_logs import KINDS, PIECES, records

from cwli.insights import run
from cwli.readers.clocks import CLOCKS
from cwli.readers.files import Untimed, log_files
from cwli.readers.mending import Mending
from cwli.readers.searching import NotSearchedError, ProcessFailedError, Search, in_processes

QUERY = "fields @message, @timestamp | filter {filters} | sort @ptr"
SIZES = {"head": 100, "block": 64, "window": 64, "settled": -1}
ISO = next(clock for clock in CLOCKS if clock.name == "ISO 8601 at the beginning")
A, B = "2024-06-02T14:26:00Z a\n", "2024-06-02T14:26:01Z b\n"


def answer(path, copies, texts, clock=None):
    filters = " or ".join(f"strcontains(@message, {text!r}) = 1" for text in texts)
    source = log_files([path], clock=clock, copies=copies, untimed=Untimed.BORROWED)
    result = run(QUERY.format(filters=filters), source)
    return [[cell["value"] for cell in row[:2]] for row in result.rows]


def found(path, folder, *texts, **options):
    """Return the answer over what a search finds, after the first 100 bytes."""
    search = Search([text.encode() for text in texts], **SIZES | options)
    return answer(path, search.copies([path], folder), texts, search.clock)


@pytest.mark.parametrize("name", sorted(KINDS.keys() - {"CloudTrail"}))
@fuzz(10)
@given(
    seed=st.integers(0, 10**6),
    block=st.sampled_from([1, 50, 1000]),
    settled=st.sampled_from([-1, 60]),
    processes=st.sampled_from([1, 3]),
)
def test_the_events_with_a_text_are_those_of_the_whole_file(
    tmp_path_factory, name, seed, block, settled, processes
):
    kind, chance = KINDS[name], random.Random(seed)
    folder = tmp_path_factory.mktemp("log")
    text = kind.envelope([kind.write(record) for record in records(seed)])
    content = text.replace("\n", chance.choice(["\n", "\r\n"])).encode()
    path = folder / "app.log"
    path.write_bytes(chance.choice([bytes, gzip.compress, bz2.compress, zstd.compress])(content))
    line = chance.choice([each for each in text.splitlines() if len(each) > 3])
    place = chance.randrange(len(line) - 3)
    texts = [each for each in (line[place : place + 9], "latency=7 end") if "'" not in each]

    whole = Mending().copies([path], folder).copies

    sizes = {"head": 500, "block": block, "window": block, "settled": settled}
    sizes |= {"share": 500, "processes": processes}
    assert found(path, folder, *texts, **sizes) == answer(path, whole, texts)


@fuzz(40)
@given(
    settled=st.sampled_from([-1, 60]),
    begin=st.sampled_from([b"begin ", PIECES[0]]),
    rest=st.lists(st.sampled_from([each for each in PIECES if each != b"LONG"]), max_size=40),
)
def test_events_of_dirty_bytes_are_right_or_left_to_the_reader(
    tmp_path_factory, settled, begin, rest
):
    folder = tmp_path_factory.mktemp("log")
    path = folder / "dirty.log"
    path.write_bytes(b"".join([begin, b"first line\n", *rest]))
    try:
        events = found(path, folder, "plain", head=5, clock=ISO, settled=settled)
    except NotSearchedError:
        return
    whole = Mending(ISO).copies([path], folder).copies
    assert events == answer(path, whole, ["plain"], ISO)


def test_an_event_of_several_lines_is_found_by_any_of_them(tmp_path):
    path = tmp_path / "app.log"
    path.write_text(A * 10 + B + "Traceback\n\n  at needle\n\n" + A + "last needle")
    events = [message for message, _ in found(path, tmp_path, "needle")]
    assert events == [f"{B}Traceback\n\n  at needle", f"{A}last needle"]


def test_a_line_that_opens_a_bracket_is_no_event_of_the_next_line(tmp_path):
    path = tmp_path / "app.log"
    event = "[main] 2024-06-02T14:26:00Z a\n[payload needle"
    path.write_text(f"{event}\n[main] 2024-06-02T14:26:01Z b\n" * 9)
    events = [message for message, _ in found(path, tmp_path, "needle", head=70)]
    assert events == [event] * 9


def test_the_end_of_a_line_is_no_part_of_what_begins_an_event(tmp_path):
    path = tmp_path / "app.log"
    path.write_text("a b\nc d\nneedle\nlast one")
    search = Search([b"needle"], head=1, begins=lambda line: re.search(rb"\s", line))
    (copy,) = search.copies([path], tmp_path).values()
    assert copy.read_text().splitlines()[1].startswith("c d")


@pytest.mark.parametrize("processes", range(1, 8))
def test_processes_share_a_file_by_whole_events(tmp_path, processes):
    path = tmp_path / "app.log"
    event = f"{B}  at needle\n  at another needle\n"
    path.write_text((A * 3 + event) * 9)
    sizes = {"head": 1, "window": 64, "settled": -1, "share": 1, "processes": processes}
    (copy,) = Search([b"needle"], ISO, **sizes).copies([path], tmp_path).values()
    assert copy.read_text().count("another needle") == 9
    assert copy.read_text().count("\n") == 10


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """Return what searches a log in three parts, after a change between their begin and search."""

    def search(change):
        path = tmp_path / "app.log"
        path.write_text((A * 9 + f"{B}  at needle\n") * 200)

        def in_processes(work, tasks, processes):
            assert len(tasks) == processes == 3
            change(path)
            for task in tasks:
                work(task)

        monkeypatch.setattr("cwli.readers.searching.in_processes", in_processes)
        search = Search([b"needle"], ISO, head=1, settled=-1, share=1, processes=3)
        (copy,) = search.copies([path], tmp_path).values()
        return copy.read_text().count("needle")

    return search


def appended(path):
    with path.open("a") as file:
        file.write(f"{A}needle\n" * 1000)


def replaced(path):
    path.rename(path.with_name("app.log.1"))
    path.write_text("x needle\n" * 100)


@pytest.mark.parametrize("change", [appended, replaced, Path.unlink])
def test_a_file_that_changes_is_searched_as_it_was(shared, change):
    assert shared(change) == 200


def test_a_file_that_is_truncated_is_not_searched(shared):
    with pytest.raises(NotSearchedError):
        shared(lambda path: os.truncate(path, 0))


@pytest.mark.parametrize("processes", [1, 2])
def test_the_lines_of_a_long_event_are_not_each_looked_at(tmp_path, processes):
    path = tmp_path / "app.log"
    path.write_text("begin\n" + "line of a dump\n" * 10_000 + "begin needle\n")
    looked_at = []

    def begins(line):
        looked_at.append(line)
        return line.startswith(b"begin")

    sizes = {"most_bytes": 500, "head": 1, "settled": -1, "share": 1, "processes": processes}
    with suppress(NotSearchedError):
        Search([b"needle"], begins=begins, **sizes).copies([path], tmp_path)
    assert len(looked_at) < 200


@pytest.mark.parametrize("number", [5, 20])
def test_processes_share_files(tmp_path, number):
    paths = [tmp_path / f"{each}.log" for each in range(number)]
    for path in paths:
        path.write_text(f"{A}2024-06-02T14:26:01Z needle of {path.name}\n{B}")
    search = Search([b"needle"], head=1, settled=-1, share=1, processes=2)
    copies = search.copies(paths, tmp_path)
    assert all(copies[path].read_text().count(f"needle of {path.name}") == 1 for path in paths)
    assert len(list(tmp_path.glob("found-*"))) == (2 * number if number == 5 else number)


def test_texts_that_a_boundary_of_blocks_divides_are_found(tmp_path):
    path = tmp_path / "app.log"
    path.write_text((A + "2024-06-02T14:26:01Z needle\n") * 20)
    assert len(found(path, tmp_path, "needle")) == 20


def test_only_the_begin_and_the_events_with_a_text_are_copied(tmp_path):
    path = tmp_path / "app.log"
    path.write_text(A * 1000 + B)
    (copy,) = Search([b"Z b"], head=100, block=64).copies([path], tmp_path).values()
    assert copy.read_text() == A * 5 + B


@pytest.mark.parametrize(
    "content",
    [
        A.encode() + b"needle \xff\n",
        A.encode() + "needle \U000fffff\n".encode(),
        A.encode() + "needle \U0010ffff\n".encode(),
        A.encode() + b"needle" + b"x" * 200 + b"\n",
        A.encode() + b"x" * 1000,
        f"{A}needle".encode("utf-16"),
        gzip.compress(random.Random(1).randbytes(1000), mtime=0)[:500],
        b'{"timestamp": 1, "message": "needle"}\n',
        b'{"timestamp": 1, "message": "%b"}\n' % (b"x" * 70_000),
    ],
    ids=[
        "damaged",
        "mark",
        "separator",
        "long",
        "without an end",
        "UTF-16",
        "cut short",
        "events",
        "long event",
    ],
)
def test_a_file_that_is_to_be_read_whole_is_not_searched(tmp_path, content):
    path = tmp_path / "a.log"
    path.write_bytes(content)
    with pytest.raises(NotSearchedError):
        found(path, tmp_path, "needle", head=40, most_bytes=150)


def test_a_file_with_the_text_in_many_lines_is_not_searched(tmp_path, monkeypatch):
    monkeypatch.setattr("cwli.readers.searching._DECIDING", 16_000)
    path = tmp_path / "a.log"
    path.write_text(f"2024-06-02T14:26:00Z needle {'x' * 4000}\n" * 500)
    with pytest.raises(NotSearchedError):
        Search([b"needle"]).copies([path], tmp_path)


def test_a_young_file_may_be_truncated_during_its_search(tmp_path):
    path = tmp_path / "app.log"
    path.write_text("begin\n" + "needle\n" * 100_000)
    truncations = iter([0])

    def begins(line):
        for size in truncations:
            os.truncate(path, size)
        return line

    (copy,) = Search([b"needle"], begins=begins).copies([path], tmp_path).values()

    assert copy.read_text().startswith("begin\nneedle\n")


def test_a_missing_file_is_not_searched(tmp_path):
    with pytest.raises(NotSearchedError):
        Search([b"needle"]).copies([tmp_path / "a.log"], tmp_path)


def test_small_files_have_no_copy_and_are_left_out_without_the_text(tmp_path):
    contents = {
        "with.log": b"2024-06-02T14:26:00Z needle\n",
        "without.log": b"2024-06-02T14:26:00Z hay\n",
        "utf16.log": "2024-06-02T14:26:00Z needle\n".encode("utf-16"),
        "escaped.json": b'[{"timestamp": 1717338360000, "message": "n\\u0065edle"}]',
        "packed.gz": gzip.compress(b"2024-06-02T14:26:00Z needle\n"),
        "large.log": b"2024-06-02T14:26:00Z hay\n" * 50,
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    files = [tmp_path / name for name in contents]
    copies = Search([b"needle"], head=1, small=1_000).copies(files, tmp_path)
    assert {path.name: copy is not None for path, copy in copies.items()} == {
        "without.log": False,
        "large.log": True,
    }


@pytest.fixture
def numbers(tmp_path):
    """Return the tasks that were done, each with its process."""

    def done():
        return {int(path.name): int(path.read_text()) for path in tmp_path.iterdir()}

    def work(number):
        (tmp_path / str(number)).write_text(str(os.getpid()))

    return work, done


@pytest.mark.parametrize("processes", [1, 2, 3, 9])
def test_each_task_is_done_once_and_this_process_takes_part(numbers, processes):
    work, done = numbers
    in_processes(work, range(5), processes)
    assert sorted(done()) == [0, 1, 2, 3, 4]
    assert len(set(done().values())) == min(processes, 5)
    assert done()[0] == os.getpid()


def test_no_task_needs_no_process(numbers):
    work, done = numbers
    in_processes(work, [], 3)
    assert done() == {}


@pytest.mark.parametrize("end", [lambda: 1 / 0, lambda: os.kill(os.getpid(), signal.SIGKILL)])
def test_a_failure_of_another_process_is_a_failure(end):
    def work(number):
        if number == 1:
            end()

    with pytest.raises(ProcessFailedError):
        in_processes(work, range(2), 2)


def test_an_interrupt_ends_the_other_processes():
    read, write = os.pipe()

    def work(number):
        if number == 0:
            raise KeyboardInterrupt
        os.close(read)
        signal.pause()

    with pytest.raises(KeyboardInterrupt):
        in_processes(work, range(3), 3)

    os.close(write)
    # The end of the pipe is there once no other process holds it.
    os.set_blocking(read, False)
    assert os.read(read, 1) == b""
    os.close(read)


def test_a_signal_during_a_fork_leaves_no_process(monkeypatch):
    fork, children = os.fork, []

    def interrupted():
        child = fork()
        if child:
            children.append(child)
            signal.raise_signal(signal.SIGINT)
        return child

    monkeypatch.setattr(os, "fork", interrupted)
    with pytest.raises(KeyboardInterrupt):
        in_processes(lambda _: signal.pause(), range(2), 2)
    with pytest.raises(ProcessLookupError):
        os.kill(*children, 0)


def test_a_signal_ends_another_process(tmp_path):
    def work(number):
        if number == 1:
            os.kill(os.getpid(), signal.SIGTERM)
            (tmp_path / "survived").touch()

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as commands have it
    try:
        with pytest.raises(ProcessFailedError):
            in_processes(work, range(2), 2)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not list(tmp_path.iterdir())
