"""The test of a number of users for some time, with Locust: does a request take longer?"""

from __future__ import annotations

import time
from collections.abc import Mapping

import gevent
from harness import log
from harness.task import CheckFailedError
from intervals import Intervals
from limits import CpuTimes, check_cores, check_lateness
from locust.env import Environment
from locust.runners import LocalRunner
from operations import numbers_of
from tester import DRAIN_SECONDS, Load, Tester

_INTERVAL_SECONDS = 10
_STARTS_PER_SECOND = 5
_RAMP_UP_SECONDS = 600


def run(host: str, port: int, variables: Mapping[str, str]) -> None:
    """Ramp the users up, let them work for the duration, and wait for the last answers.

    Raises
    ------
    CheckFailedError
        If the task has no user, if one cannot log in and make its own data, if nothing was
        requested, or if the server falls behind by a minute.
    """
    users, seconds = numbers_of(variables), int(variables["TIDEMARK_DURATION"])
    load = Load(host, port, variables["TIDEMARK_SEED"], numbers=iter(users))
    classes = [type("Measured", (Tester,), {"load": load})]
    environment = Environment(user_classes=classes)
    intervals = Intervals()
    environment.events.request.add_listener(intervals.add)
    runner = environment.create_local_runner()
    runner.start(len(users), spawn_rate=_STARTS_PER_SECOND)
    _ramp_up(load, len(users))
    _measure(load, runner, intervals, seconds)
    if not intervals.requests:
        raise CheckFailedError(f"No request was due within {seconds} seconds.")
    log.info("Bounded", f"Made {intervals.requests} requests in {seconds} seconds")
    log.info("Bounded", f"Left out {load.left_out} requests of the ramp-up")
    for entry in environment.stats.entries.values():
        log.info(
            "Locust",
            f"{entry.name}: {entry.num_requests} requests, {entry.num_failures} failures, "
            f"average {entry.avg_response_time:.6f} ms, "
            f"p99 {entry.get_response_time_percentile(0.99)} ms",
        )


def _ramp_up(load: Load, users: int) -> None:
    """Wait until every user works; requests before do not count."""
    until = time.monotonic() + _RAMP_UP_SECONDS
    while load.ready < users:
        gevent.sleep(0.1)
        if load.refused or time.monotonic() > until:
            why = load.refused or f"{_RAMP_UP_SECONDS} seconds were not enough"
            raise CheckFailedError(f"{load.ready} of {users} users could begin: {why}.")


def _measure(load: Load, runner: LocalRunner, intervals: Intervals, seconds: int) -> None:
    load.begins = time.monotonic()
    load.ends = load.begins + seconds
    began = CpuTimes.now()
    while (left := load.ends - time.monotonic()) > 0:
        gevent.sleep(min(left, _INTERVAL_SECONDS))
        intervals.log(intervals.connected(runner.user_count))
    used = CpuTimes.now().since(began)
    log.info(
        "Bounded",
        f"The load used {used.cores:.4f} cores of {used.machine:.4f}, "
        f"and {used.stolen:.4f} were stolen",
    )
    check_cores(used.cores)
    _drain(load, runner)
    late = load.lateness.mean()
    log.info("Bounded", f"The load sent requests {late:.3f} ms late")
    check_lateness(late)
    intervals.log(runner.user_count)


def _drain(load: Load, runner: LocalRunner) -> None:
    """Wait until every user has made all requests that were due before the end."""
    while users := runner.user_count:
        gevent.sleep(0.1)
        if time.monotonic() > load.ends + DRAIN_SECONDS:
            raise CheckFailedError(
                f"{users} users still waited for answers {DRAIN_SECONDS} seconds after the end: "
                "the server cannot bear the load."
            )
