"""The end of queries that nobody awaits, in both engines."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest

from cwli import insights
from cwli.cancellation import (
    Abandoned,
    Cancellation,
    Cancelled,
    TimedOut,
    _Running,
    interruptible,
)
from onebox.athena import api as athena
from tests.component.endless import CROSS_JOIN, EVENTS

ENDLESS = "SELECT count(*) FROM range(1000000) AS a, range(1000000) AS b WHERE hash(a, b) = 0"


def count(cancellation):
    with duckdb.connect() as connection, cancellation.of(connection):
        return connection.execute(ENDLESS).fetchall()


def search(cancellation):
    return insights.run("filter @message = ''", EVENTS, cancellation=cancellation)


def join(cancellation):
    return athena.run(CROSS_JOIN, None, {}, cancellation=cancellation)


@pytest.mark.parametrize("query", [count, search, join])
def test_a_query_ends_when_another_thread_cancels_it(query):
    cancellation = Cancellation()
    other = threading.Timer(0.1, cancellation.cancel)
    other.start()

    with pytest.raises(Cancelled):
        query(cancellation)
    other.join()


@pytest.mark.parametrize("query", [count, search, join])
def test_a_query_that_was_cancelled_before_it_began_ends_too(query):
    cancellation = Cancellation()
    cancellation.cancel()

    with pytest.raises(Cancelled):
        query(cancellation)


def test_a_query_ends_when_its_time_is_over():
    with pytest.raises(TimedOut):
        search(Cancellation(0.0))
    with pytest.raises(athena.QueryError, match=r"^Query timeout$"):
        join(Cancellation(0.0))


@pytest.mark.parametrize("query", [count, search, join])
def test_a_query_ends_when_its_client_asks_for_it_no_more(query, monkeypatch):
    cancellation = Cancellation()
    monkeypatch.setattr("cwli.cancellation.SILENCE_SECONDS", 0.0)
    cancellation.hear()

    with pytest.raises(Abandoned, match=r"^Nobody has asked for this query for 0 seconds$"):
        query(cancellation)


def test_a_query_within_its_time_gives_its_result():
    assert athena.run("SELECT 1", None, {}, cancellation=Cancellation(60)).rows == [["1"]]


def test_the_cancellation_of_an_ended_query_has_no_effect():
    cancellation = Cancellation()
    assert athena.run("SELECT 1", None, {}, cancellation=cancellation).rows == [["1"]]
    cancellation.cancel()


@pytest.mark.parametrize("query", [count, search, join])
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
    """Return a folder with a state that holds no results, and with a log of equal lines."""
    (tmp_path / "state" / "objects").mkdir(parents=True)
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
@pytest.mark.parametrize(
    "command", [["sql", CROSS_JOIN, "--state", "state"], ["query", PAIRS, "equal.log"]]
)
def test_a_signal_ends_a_command_with_one_sentence_and_leaves_nothing(folder, command, number):
    before = sorted(folder.iterdir())
    process = subprocess.Popen(
        [Path(sys.executable).with_name("tidemark"), *command],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
    )
    await_query(process)
    process.send_signal(number)

    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "\ntidemark: interrupted\n")
    assert sorted(folder.iterdir()) == before
