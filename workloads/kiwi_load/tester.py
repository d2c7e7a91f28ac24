"""A user of Kiwi TCMS in the terms of Locust.

The user does an operation a second on average, at times that do not depend on the server (an open
model). The time of a request runs from the moment at which it was due: while a server stalls, the
requests that wait for it count, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from random import Random
from time import monotonic

import gevent
from json_rpc import Refusal, Session
from limits import Lateness
from locust import User, constant, task
from locust.exception import StopUser
from operations import Work, drawn

DRAIN_SECONDS = 60
"""The time after the end within which a request that was due before it is still made [s]."""
FAULTS = (Refusal, OSError, HTTPException)
"""The faults of a request: an answer that refuses it, or none."""


@dataclass
class Load:
    """The part of a test that its users share.

    A request counts if it is due between ``begins`` and ``ends`` [s, of the monotonic clock].
    """

    host: str
    port: int
    seed: str
    begins: float = math.inf
    ends: float = math.inf
    numbers: Iterator[int] = field(default_factory=count)
    ready: int = 0
    """The number of users who have logged in and made their own data."""
    refused: str = ""
    """Why a user could not, '' if all could."""
    left_out: int = 0
    """The number of requests that were due during the ramp-up."""
    lateness: Lateness = field(default_factory=Lateness)
    """The lateness of the requests that count."""


class Tester(User):
    """A user with data of its own; a subclass sets ``load``."""

    abstract = True
    wait_time = constant(0)  # the user waits in its task, for the next due time
    load: Load

    def on_start(self) -> None:
        """Log in, and make the data that the operations need."""
        try:
            self.join(next(self.load.numbers))
        except FAULTS as fault:
            self.load.refused = str(fault)
            raise StopUser from fault

    def join(self, number: int) -> None:
        """Log in as the user of a number, and make the data; raise one of FAULTS without it."""
        self._random = Random(f"{self.load.seed}/{number}")  # noqa: S311 (repeatable, no secret)
        self._session = Session(self.load.host, self.load.port)
        self._work = Work(self._session, f"User {number}")
        self.due = monotonic()
        self.load.ready += 1

    def rest(self) -> None:
        """End, since no further request counts."""
        raise StopUser

    @task
    def operate(self) -> None:
        """Wait for the next request, make it and report its time if it counts; then rest."""
        self.due += self._random.expovariate(1.0)
        operation = drawn(self._random)
        ready = max(self.due, monotonic())
        gevent.sleep(max(0.0, min(self.due, self.load.ends) - monotonic()))
        if self.due >= self.load.ends or monotonic() > self.load.ends + DRAIN_SECONDS:
            self.rest()
            return
        if self.due >= self.load.begins:
            self.load.lateness.add(ready)
        fault = self._fault(operation)
        if self.due < self.load.begins:
            self.load.left_out += 1
        else:
            self.environment.events.request.fire(
                request_type="JSON-RPC",
                name=operation,
                response_time=1000 * (monotonic() - self.due),
                response_length=0,
                exception=fault,
                answered=self._session.answered,
            )

    def _fault(self, operation: str) -> Exception | None:
        self._session.answered.clear()
        try:
            self._work.do(operation, self._random)
        except FAULTS as fault:
            return fault
        return None
