"""The end of queries that nobody awaits."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest
from endless import EVENTS

from cwli import insights
from cwli.cancellation import Abandoned, Cancellation, Cancelled, TimedOut, _Running, interruptible
from cwli.insights import EventSource

ENDLESS = "SELECT count(*) FROM range(1000000) AS a, range(1000000) AS b WHERE hash(a, b) = 0"


def count(cancellation):
    with duckdb.connect() as connection, cancellation.of(connection):
        return connection.execute(ENDLESS).fetchall()


def search(cancellation):
    return insights.run("filter @message = ''", EVENTS, cancellation=cancellation)


@pytest.mark.parametrize("query", [count, search])
def test_a_query_ends_when_another_thread_cancels_it(query):
    cancellation = Cancellation()
    other = threading.Timer(0.1, cancellation.cancel)
    other.start()

    with pytest.raises(Cancelled):
        query(cancellation)
    other.join()


@pytest.mark.parametrize("query", [count, search])
def test_a_query_that_was_cancelled_before_it_began_ends_too(query):
    cancellation = Cancellation()
    cancellation.cancel()

    with pytest.raises(Cancelled):
        query(cancellation)


def test_a_query_ends_when_its_time_is_over():
    with pytest.raises(TimedOut):
        search(Cancellation(0.0))


@pytest.mark.parametrize("query", [count, search])
def test_a_query_ends_when_its_client_asks_for_it_no_more(query, monkeypatch):
    cancellation = Cancellation()
    monkeypatch.setattr("cwli.cancellation.SILENCE_SECONDS", 0.0)
    cancellation.hear()

    with pytest.raises(Abandoned, match=r"^Nobody has asked for this query for 0 seconds$"):
        query(cancellation)


def test_the_cancellation_of_an_ended_query_has_no_effect():
    cancellation = Cancellation(60)
    assert insights.run("limit 1", EventSource.union([]), cancellation=cancellation).rows == []
    cancellation.cancel()


@pytest.mark.parametrize("query", [count, search])
def test_a_signal_ends_a_query(query):
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)

    def signalled(cancellation):
        os.kill(os.getpid(), signal.SIGTERM)
        return query(cancellation)

    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(signalled)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_second_signal_waits_for_the_end_of_the_query(monkeypatch):
    ended = threading.Event()
    signals = iter([KeyboardInterrupt, KeyboardInterrupt])

    wait = _Running.wait

    def interrupted(running):
        for error in signals:
            raise error
        return wait(running)

    def query(cancellation):
        try:
            return count(cancellation)
        finally:
            ended.set()

    monkeypatch.setattr("cwli.cancellation._Running.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        interruptible(query)
    assert ended.is_set()


def test_an_interruptible_query_gives_its_result_or_its_error():
    assert interruptible(lambda _: 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda _: 1 // 0)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a log of equal lines."""
    (tmp_path / "equal.log").write_text("x\n" * 200_000)
    return tmp_path


SAME = "parse @message '*' as k"
PAIRS = f"{SAME} | join left=a right=b where a.k=b.k (SOURCE 'equal.log' | {SAME}) | stats count(*)"


def await_query(process):
    """Wait until a command has its second and third thread, which run and watch a query."""
    deadline = time.monotonic() + 60
    while len(list(Path(f"/proc/{process.pid}/task").iterdir())) < 3:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_with_one_sentence_and_leaves_nothing(folder, number):
    before = sorted(folder.iterdir())
    process = subprocess.Popen(
        [Path(sys.executable).with_name("cwli"), PAIRS, "equal.log"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
    )
    await_query(process)
    process.send_signal(number)

    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "\ncwli: interrupted\n")
    assert sorted(folder.iterdir()) == before
