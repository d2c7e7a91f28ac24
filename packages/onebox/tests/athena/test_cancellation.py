"""The end of queries in SQL that nobody awaits."""

import threading

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
