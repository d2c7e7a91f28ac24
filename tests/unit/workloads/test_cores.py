"""The cores of a server and its load on one machine."""

import os

import pytest
from harness.cores import keep_apart


@pytest.fixture
def kept(monkeypatch):
    """Return a function that gives the cores of both sides of a machine with some cores."""

    def kept(host, *cores):
        sides = []
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*cores})
        monkeypatch.setattr(os, "sched_setaffinity", lambda _, chosen: sides.append(chosen))
        for serves in (True, False):
            keep_apart(host, serves=serves)
        return sides

    return kept


def test_a_server_and_its_load_have_no_core_in_common(kept):
    assert kept("127.9.8.7", 0, 1) == [[1], [0]]
    assert kept("127.9.8.7", 2, 4, 6) == [[4, 6], [2]]


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.12.7"])
def test_a_server_on_a_machine_of_its_own_has_all_cores(kept, host):
    assert kept(host, 0, 1) == []


def test_one_core_is_shared(kept):
    assert kept("127.9.8.7", 3) == []
