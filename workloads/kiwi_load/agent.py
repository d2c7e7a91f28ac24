"""The agent of the unbounded test, with Locust: it holds each level that a search asks for."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gevent
from gevent.event import Event
from harness import log
from harness.load import Levels
from intervals import Intervals
from limits import CpuTimes, Use
from locust.env import Environment
from tester import DRAIN_SECONDS, FAULTS, Load, Tester

NAME = "agent"
_PORT = 8090
_STARTS_PER_SECOND = 10
# New users log in and make their data before a level is measured, 27 calls each.
_JOINING_SECONDS = 120
_POLL_SECONDS = 1.0


@dataclass
class Crew(Load):
    """The users so far, as many as the greatest level that was asked for."""

    users: list[Member] = field(default_factory=list)


class Member(Tester):
    """A user who works while a level is held that needs them, and rests until the next one."""

    abstract = True
    load: Crew

    def on_start(self) -> None:
        """Log in and make the data; try again while the server does not let the user."""
        self._turn = Event()
        self.rests = True
        number = next(self.load.numbers)
        while not self._joined(number):
            gevent.sleep(_POLL_SECONDS)
        self.load.users.append(self)

    def _joined(self, number: int) -> bool:
        try:
            self.join(number)
        except FAULTS as fault:
            self.load.refused = str(fault)
            return False
        return True

    def work(self, begin: float) -> None:
        """Let the user work from a time on."""
        self.rests = False
        self.due = begin
        self._turn.set()

    def rest(self) -> None:
        """Wait for the next level that needs the user."""
        self.rests = True
        self._turn.wait()
        self._turn.clear()


def run(host: str, port: int, variables: Mapping[str, str]) -> None:
    """Hold one level after the other until this process is stopped.

    Raises
    ------
    CheckFailedError
        If the level cannot be read.
    """
    levels = Levels.of_task(variables)
    crew = Crew(host, port, f"{variables['TIDEMARK_SEED']}/{NAME}", begins=0.0, ends=0.0)
    environment = Environment(user_classes=[type("Measured", (Member,), {"load": crew})])
    agent = Agent(crew, environment)
    # The trial takes the agent for ready once this port accepts connections.
    with socket.create_server((variables["TIDEMARK_ADDRESS"], _PORT)):
        last = 0
        while True:
            course = levels.read()
            if course and not course["over"] and course["level"] > last:
                last = course["level"]
                agent.hold(course)
            gevent.sleep(_POLL_SECONDS)


class Agent:
    """The users of one agent, and what they measure."""

    def __init__(self, crew: Crew, environment: Environment) -> None:
        self._crew = crew
        self._runner = environment.create_local_runner()
        self._intervals = Intervals()
        self._asked = 0
        environment.events.request.add_listener(self._intervals.add)

    def hold(self, course: Mapping[str, Any]) -> None:
        """Let the users of a level work for its time, and log what they measured."""
        crew, users = self._crew, course["users"][NAME]
        self._gather(users)
        working = crew.users[:users]
        begin = time.monotonic()
        crew.begins = begin + course["settle_seconds"]
        crew.ends = crew.begins + course["hold_seconds"]
        for user in working:
            user.work(begin)
        _sleep_until(crew.begins)
        began = CpuTimes.now()
        _sleep_until(crew.ends)
        used = CpuTimes.now().since(began)
        _wait_for(lambda: _rest(working), DRAIN_SECONDS)
        self._log(course["level"], working, used)

    def _gather(self, users: int) -> None:
        """Wait until as many users have joined, and the users of the level before have ended."""
        crew = self._crew
        if users > self._asked:
            self._asked = users
            self._runner.start(users, spawn_rate=_STARTS_PER_SECOND)
        joined = _wait_for(lambda: len(crew.users) >= users, _JOINING_SECONDS)
        if not joined:
            why = crew.refused or "the server did not answer in time"
            log.error("Agent", f"{len(crew.users)} of {users} users have joined: {why}")
        _wait_for(lambda: _rest(crew.users), DRAIN_SECONDS)

    def _log(self, level: int, working: Sequence[Member], used: Use) -> None:
        summary = self._intervals.summary()
        users = self._intervals.connected(sum(user.rests for user in working))
        self._intervals.log(users)
        log.info(
            "Agent",
            f"Level {level} users {users} average {summary.average:.3f} ms "
            f"p99 {summary.p99:.3f} ms failures {summary.failed / max(1, summary.requests):.4f} "
            f"cpu {used.cores:.4f} machine {used.machine:.4f} stolen {used.stolen:.4f} "
            f"late {self._crew.lateness.mean():.3f} ms",
        )


def _rest(users: Sequence[Member]) -> bool:
    return all(user.rests for user in users)


def _sleep_until(moment: float) -> None:
    gevent.sleep(max(0.0, moment - time.monotonic()))


def _wait_for(happened: Callable[[], bool], seconds: float) -> bool:
    """Wait until something has happened, but not longer; tell whether it has."""
    until = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > until:
            return False
        gevent.sleep(0.1)
    return True
