"""The one-machine cloud forgets what nobody reads any more."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from cwli.cancellation import Cancellation
from onebox.cloud import replacements
from onebox.cloud.replacements import KeptQuery, forget_read


class Clock:
    """A clock that tests set."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(replacements, "_MOST_CELLS", 1_000)
    return Clock()


def begun(clock):
    query = KeptQuery(Cancellation(), clock)
    query.await_result(Future())
    return query


def ended(clock):
    query = begun(clock)
    query.result.set_result(SimpleNamespace(rows=[["cell"] * 10] * 100))
    return query


def forgotten(**queries):
    kept = dict(queries)
    forget_read(kept)
    return queries.keys() - kept.keys()


def test_the_oldest_results_are_forgotten_minutes_after_their_last_read(clock):
    old, new = ended(clock), ended(clock)
    clock.now = 200.0
    old.hear()

    clock.now = 499.0
    assert forgotten(old=old, new=new) == set()
    clock.now = 500.0
    assert forgotten(old=old, new=new) == {"old"}


def test_a_result_that_nobody_has_asked_for_stays_for_minutes_after_the_end_of_its_query(clock):
    long = begun(clock)
    clock.now = 3_000.0
    new = ended(clock)
    long.result.set_exception(ValueError())

    clock.now = 3_299.0
    assert forgotten(long=long, new=new) == set()
    clock.now = 3_300.0
    assert forgotten(long=long, new=new) == {"long"}


def test_a_query_that_runs_is_not_forgotten(clock):
    running, new = begun(clock), ended(clock)
    clock.now = 1_000.0

    assert forgotten(running=running, new=new) == set()
