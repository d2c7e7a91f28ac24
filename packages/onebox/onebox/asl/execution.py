"""A run of a state machine: its input, its status and its history."""

from __future__ import annotations

import asyncio
from collections import ChainMap
from dataclasses import dataclass
from datetime import datetime

from onebox.asl import errors
from onebox.asl.definition import StateMachine
from onebox.asl.errors import StateError
from onebox.asl.history import History, Trail, data
from onebox.asl.interpreter import Scope, World, cancel, run_machine, timestamp
from onebox.asl.payload import Json

_EVENTS = {
    "SUCCEEDED": "Succeeded", "FAILED": "Failed", "TIMED_OUT": "TimedOut", "ABORTED": "Aborted",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Identity:
    """The names of an execution and its machine, as ``$states.context`` shows them."""

    arn: str
    name: str
    role: str
    machine_arn: str
    machine_name: str


class Execution:
    """
    One run of a state machine.

    Attributes
    ----------
    status
        RUNNING, then one final status: SUCCEEDED, FAILED, TIMED_OUT or ABORTED.
    started, stopped
        The times of start and end; ``stopped`` is None while the execution runs.
    output
        The JSON value of an execution that succeeded.
    error, cause
        The reason of an execution that did not succeed.
    """

    def __init__(
        self, machine: StateMachine, identity: Identity, execution_input: Json, world: World
    ) -> None:
        self.identity = identity
        self.input = execution_input
        self.status = "RUNNING"
        self.started = world.clock()
        self.stopped: datetime | None = None
        self.output: Json = None
        self.error: str | None = None
        self.cause: str | None = None
        self.history = History(world.clock)
        self._machine = machine
        self._world = world
        self._trail = Trail(self.history)
        self._stop_requested = asyncio.Event()
        self._stop_reason: tuple[str | None, str | None] = (None, None)

    def stop(self, error: str | None = None, cause: str | None = None) -> None:
        """Abort the execution; the status changes when all running states have ended."""
        if not self._stop_requested.is_set():
            self._stop_reason = (error, cause)
            self._stop_requested.set()

    async def run(self) -> None:
        """Run the execution to its end, and store the outcome in its attributes."""
        details = {**data("input", self.input), "roleArn": self.identity.role}
        self.history.add("ExecutionStarted", 0, details)
        scope = Scope(self._world, self._context(), ChainMap(), self._trail)
        work = asyncio.create_task(run_machine(self._machine, self.input, scope))
        stop = asyncio.create_task(self._stop_requested.wait())
        try:
            done, _ = await asyncio.wait(
                {work, stop},
                timeout=self._machine.timeout_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if work in done:
                self._end("SUCCEEDED", output=work.result())
            else:
                await cancel([work])
                if stop in done:
                    self._end("ABORTED", *self._stop_reason)
                else:
                    self._end("TIMED_OUT", errors.TIMEOUT)
        except StateError as error:
            self._end("FAILED", error.error, error.cause)
        finally:
            await cancel([stop])
            if self.status == "RUNNING":
                self._end("FAILED", errors.RUNTIME, "The interpreter failed; its log says why.")

    def _context(self) -> dict[str, Json]:
        identity = self.identity
        return {
            "Execution": {
                "Id": identity.arn,
                "Input": self.input,
                "Name": identity.name,
                "RoleArn": identity.role,
                "StartTime": timestamp(self.started),
            },
            "StateMachine": {"Id": identity.machine_arn, "Name": identity.machine_name},
        }

    def _end(
        self, status: str, error: str | None = None, cause: str | None = None, output: Json = None
    ) -> None:
        if status == "SUCCEEDED":
            details = data("output", output)
        else:
            reason = {"error": error, "cause": cause}
            details = {name: text for name, text in reason.items() if text is not None}
        self.history.end(f"Execution{_EVENTS[status]}", self._trail.last, details)
        self.output, self.error, self.cause = output, error, cause
        self.stopped = self._world.clock()
        self.status = status  # set last: a reader in another thread then finds the rest
