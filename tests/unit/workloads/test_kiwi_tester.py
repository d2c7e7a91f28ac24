"""A user of Kiwi TCMS at its due times, with a clock of its own in place of Locust's."""

import sys
from random import Random
from types import SimpleNamespace

import pytest


class Clock:
    """A clock that only waits and work move [s]."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class EverySecond(Random):
    """Numbers that make a request due each second."""

    def expovariate(self, _):
        return 1.0


@pytest.fixture
def reported(kiwi_load, monkeypatch):
    """Return a function that lets a user make requests; it returns those that were reported.

    Its arguments are the seconds that the server takes for each request, and when requests begin to
    count.
    """
    clock, stop = Clock(), type("StopUser", (Exception,), {})
    monkeypatch.setitem(sys.modules, "gevent", SimpleNamespace(sleep=clock.sleep))
    locust = SimpleNamespace(User=object, constant=lambda _: None, task=lambda method: method)
    monkeypatch.setitem(sys.modules, "locust", locust)
    monkeypatch.setitem(sys.modules, "locust.exception", SimpleNamespace(StopUser=stop))
    tester, limits = kiwi_load("tester"), kiwi_load("limits")
    for module in (tester, limits):
        monkeypatch.setattr(module, "monotonic", clock)

    def reported(seconds, begins=0.0):
        found, left = [], iter(seconds)
        user = tester.Tester()
        user.load = tester.Load("", 0, "", begins=begins, ends=1_000.0)
        user.due, user._random = clock.now, EverySecond(1)
        user._session = SimpleNamespace(answered=[])
        user._work = SimpleNamespace(do=lambda *_: clock.sleep(next(left)))
        fire = SimpleNamespace(fire=lambda **request: found.append(request["response_time"]))
        user.environment = SimpleNamespace(events=SimpleNamespace(request=fire))
        for _ in seconds:
            user.operate()
        return found, user.load

    return reported


def test_a_request_that_waits_for_a_stalled_server_takes_the_time_since_it_was_due(reported):
    times, load = reported([0.25, 3.0, 0.25, 0.25, 0.25])

    assert times == pytest.approx([250, 3_000, 2_250, 1_500, 750])
    assert load.lateness.mean() == pytest.approx(0)


def test_a_request_that_was_due_in_the_ramp_up_is_left_out(reported):
    times, load = reported([0.25] * 5, begins=3.0)

    assert (times, load.left_out) == (pytest.approx([250] * 3), 2)
