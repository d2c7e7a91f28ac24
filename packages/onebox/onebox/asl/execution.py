"""A run of a state machine: its definition as it is read, its input, and its status."""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from onebox.asl import errors
from onebox.asl.definition import Choice, Handled, Machine, Map, Result, State, StateMachine, Task
from onebox.asl.errors import ALL, StateError
from onebox.asl.history import History, Trail, data
from onebox.asl.interpreter import Scope, World, cancel, run_machine, timestamp
from onebox.asl.payload import Json, parse


class InvalidDefinition(ValueError):
    """A definition that breaks the language or uses a part that is not supported here."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        text = ", ".join(f"SCHEMA_VALIDATION_FAILED: {problem}" for problem in problems)
        super().__init__(f"Invalid State Machine Definition: '{text}'")


def read_definition(text: str, resources: Collection[str]) -> StateMachine:
    """
    Return the state machine of a definition.

    Parameters
    ----------
    text
        The definition: JSON in the Amazon States Language, with JSONata as its QueryLanguage.
    resources
        The Task resources that have an integration.

    Raises
    ------
    InvalidDefinition
        If the definition has problems. The message names each problem with the path of its field:
        all problems of form or, if there are none, all problems of meaning, such as a Next that
        names no state.
    """
    try:
        parse(text)  # stricter than pydantic: refuses duplicate keys and NaN
        machine = StateMachine.model_validate_json(text)
    except ValidationError as error:
        raise InvalidDefinition([_sentence(problem) for problem in error.errors()]) from error
    except ValueError as error:
        raise InvalidDefinition([f"the definition is not JSON: {error}"]) from error
    names = [name for level in _levels(machine) for name in level.states]
    problems = [
        *(f"the state name {name!r} is used twice" for name in names if names.count(name) > 1),
        *_problems(machine, "", frozenset(), resources),
    ]
    if problems:
        raise InvalidDefinition(list(dict.fromkeys(problems)))
    return machine


def _sentence(problem: Any) -> str:  # noqa: ANN401 (pydantic's ErrorDetails)
    if problem["type"] == "extra_forbidden":
        message = "this field is not supported"
    else:
        message = problem["msg"].removeprefix("Value error, ")
    return f"{message} at {_path(problem['loc'])}"


def _path(location: tuple[str | int, ...]) -> str:
    # pydantic puts the Type that chose the model behind the name of a state.
    fields = [
        part for index, part in enumerate(location) if index < 2 or location[index - 2] != "States"
    ]
    return "/" + "/".join(map(str, fields))


def _levels(machine: Machine) -> Iterator[Machine]:
    yield machine
    for state in machine.states.values():
        if isinstance(state, Map):
            yield from _levels(state.item_processor)


def _problems(
    machine: Machine, path: str, outer: frozenset[str], resources: Collection[str]
) -> Iterator[str]:
    if machine.start_at not in machine.states:
        yield f"there is no state {machine.start_at!r} at {path}/StartAt"
    reachable = _reachable(machine)
    variables = frozenset(
        name for state in machine.states.values() for name in _assigned_variables(state)
    )
    for name in sorted(variables & outer):
        yield f"the variable {name!r} belongs to the machine around {path or '/'}"
    for name, state in machine.states.items():
        here = f"{path}/States/{name}"
        if name not in reachable:
            yield f"no other state leads to {here}"
        for target in _targets(state):
            if target not in machine.states:
                yield f"there is no next state {target!r} at {here}"
        if isinstance(state, Handled):
            yield from _problems_of_handling(state, here)
        if isinstance(state, Task) and state.resource not in resources:
            accepted = ", ".join(sorted(resources))
            yield f"the resource {state.resource!r} is not one of {accepted} at {here}/Resource"
        if isinstance(state, Map):
            yield from _problems(
                state.item_processor, f"{here}/ItemProcessor", outer | variables, resources
            )


def _problems_of_handling(state: Handled, path: str) -> Iterator[str]:
    for field, lists in (
        ("Retry", [retrier.error_equals for retrier in state.retry]),
        ("Catch", [catcher.error_equals for catcher in state.catch]),
    ):
        for index, names in enumerate(lists):
            if ALL in names and (len(names) > 1 or index < len(lists) - 1):
                yield f"{ALL} must be alone and last at {path}/{field}/{index}/ErrorEquals"


def _reachable(machine: Machine) -> set[str]:
    reached, pending = set[str](), [machine.start_at]
    while pending:
        name = pending.pop()
        if name in machine.states and name not in reached:
            reached.add(name)
            pending.extend(_targets(machine.states[name]))
    return reached


def _results(state: State) -> Iterator[Result]:
    if isinstance(state, Result):
        yield state
    if isinstance(state, Choice):
        yield from state.choices
    if isinstance(state, Handled):
        yield from state.catch


def _targets(state: State) -> Iterator[str]:
    return filter(None, (result.next for result in _results(state)))


def _assigned_variables(state: State) -> Iterator[str]:
    for result in _results(state):
        if isinstance(result.assign.source, dict):
            yield from result.assign.source


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
