"""The end of queries in SQL that nobody awaits."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from endless import CROSS_JOIN

from cwli.cancellation import Cancellation, Cancelled
from onebox.athena import api as athena


def join(cancellation):
    return athena.run(CROSS_JOIN, None, {}, cancellation=cancellation)


def test_a_query_ends_when_another_thread_cancels_it():
    cancellation = Cancellation()
    other = threading.Timer(0.1, cancellation.cancel)
    other.start()

    with pytest.raises(Cancelled):
        join(cancellation)
    other.join()


def test_a_query_ends_when_its_time_is_over():
    with pytest.raises(athena.QueryError, match=r"^Query timeout$"):
        join(Cancellation(0.0))


def test_a_query_within_its_time_gives_its_result():
    assert athena.run("SELECT 1", None, {}, cancellation=Cancellation(60)).rows == [["1"]]


def await_query(process):
    """Wait until a command has its second and third thread, which run and watch a query."""
    deadline = time.monotonic() + 60
    while len(list(Path(f"/proc/{process.pid}/task").iterdir())) < 3:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_signal_ends_the_command_with_one_sentence(tmp_path):
    (tmp_path / "objects").mkdir()
    program = Path(sys.executable).with_name("tidemark")
    process = subprocess.Popen(
        [program, "sql", CROSS_JOIN, "--state", tmp_path], stderr=subprocess.PIPE, text=True
    )
    await_query(process)
    process.send_signal(signal.SIGTERM)

    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "\ntidemark: interrupted\n")
