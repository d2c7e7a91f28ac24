"""How the states of a machine run, one after the other or, in a Map, side by side."""

from __future__ import annotations

import asyncio
import random
from collections import ChainMap, Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol, TypeVar

from local.asl import definition as asl
from local.asl import errors
from local.asl.errors import StateError, matches
from local.asl.history import Trail, data
from local.asl.jsonata import OnEvaluate, Template
from local.asl.payload import Json, dump, limited


class Submission(Protocol):
    """What an integration may tell while it works."""

    def submitted(self, output: Json) -> None:
        """Record that the service accepted the work, and its answer."""


# Developer guide, "Using Map state in Inline mode": what it runs at once, whatever it is asked.
_MOST_ITERATIONS = 40

Integration = Callable[[Json, Submission], Awaitable[Json]]
Jitter = Callable[[float], float]
_Handler = TypeVar("_Handler", asl.Retrier, asl.Catcher)


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def full_jitter(longest: float) -> float:
    """Return any of the seconds up to the longest."""
    return random.uniform(0, longest)  # noqa: S311 (no secret)


def timestamp(time: datetime) -> str:
    """Write a time as the context object does: ``2026-11-20T12:41:32.762Z``."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, kw_only=True)
class World:
    """
    What executions have to do with.

    Attributes
    ----------
    integrations
        By a Task's Resource: called with the arguments, it returns the task's result or raises
        StateError; cancelled, it stops what it started before it ends.
    region
        Where the tasks run, as the history shows it.
    clock
        Gives the time, aware of its zone.
    jitter
        Gives the seconds to wait, up to those given, by JitterStrategy FULL.
    on_evaluate
        Told of every JSONata expression, the bindings that it refers to, and its result.
    """

    integrations: Mapping[str, Integration]
    region: str
    clock: Callable[[], datetime] = utc_now
    jitter: Jitter = full_jitter
    on_evaluate: OnEvaluate | None = None


@dataclass(frozen=True)
class Scope:
    """What the states of one machine share: those of the execution, or of one Map iteration."""

    world: World
    context: dict[str, Json]
    variables: ChainMap[str, Json]  # its own first, then those of the machines around it
    trail: Trail

    def iteration(self, index: int, item: Json, trail: Trail) -> Scope:
        """Return the scope of one iteration of a Map."""
        context: dict[str, Json] = {
            **self.context,
            "Map": {"Item": {"Index": index, "Value": item}},
        }
        return Scope(self.world, context, self.variables.new_child(), trail)


async def run_machine(machine: asl.Machine, value: Json, scope: Scope) -> Json:
    """
    Run a machine's states from the first to the end and return the last one's output.

    Raises
    ------
    StateError
        The error that no state caught.
    """
    name: str | None = machine.start_at
    while name is not None:
        await asyncio.sleep(0)  # others have their turn, even beside a loop that never waits
        name, value = await _Visit(scope, name, machine.states[name], value).run()
    return value


class _Left(NamedTuple):
    next: str | None
    output: Json
    variables: dict[str, Json]


class _Visit:
    """One stay in a state, with all its repetitions."""

    def __init__(self, scope: Scope, name: str, state: asl.State, value: Json) -> None:
        self._scope = scope
        self._name = name
        self._state = state
        self._input = value
        self._trail = scope.trail
        self._entered = timestamp(scope.world.clock())
        self._retries = 0

    async def run(self) -> tuple[str | None, Json]:
        details = {"name": self._name, **data("input", self._input)}
        self._trail.add(f"{self._state.type}StateEntered", details)
        left = await self._work()
        self._scope.variables.update(left.variables)
        details = {"name": self._name, **data("output", left.output)}
        if left.variables:
            written = {name: dump(value) for name, value in left.variables.items()}
            details["assignedVariables"] = written
            details["assignedVariablesDetails"] = {"truncated": False}
        self._trail.add(f"{self._state.type}StateExited", details)
        return left.next, left.output

    async def _work(self) -> _Left:
        state = self._state
        if isinstance(state, asl.Task | asl.Map):
            return await self._repeat(state)
        if isinstance(state, asl.Choice):
            return self._choose(state)
        if isinstance(state, asl.Fail):
            raise StateError(self._text(state.error, "Error"), self._text(state.cause, "Cause"))
        if isinstance(state, asl.Wait):
            await asyncio.sleep(self._count(state.seconds, "Seconds"))
        return self._leave(state, self._input)

    async def _repeat(self, state: asl.Task | asl.Map) -> _Left:
        attempts: Counter[asl.Retrier] = Counter()
        while True:
            try:
                result = await (
                    self._task(state) if isinstance(state, asl.Task) else self._map(state)
                )
                return self._leave(state, result, result=result)
            except StateError as error:
                if _is_cancelled():  # whatever went wrong on the way down, the abort goes on
                    raise asyncio.CancelledError from error
                failure = error
            retrier = _handler(state.retry, failure)
            if retrier is None or attempts[retrier] >= retrier.max_attempts:
                return self._catch(state, failure)
            delay = retrier.delay(attempts[retrier])
            attempts[retrier] += 1
            self._retries += 1
            jittered = retrier.jitter_strategy == "FULL"
            await asyncio.sleep(self._scope.world.jitter(delay) if jittered else delay)

    def _catch(self, state: asl.Task | asl.Map, failure: StateError) -> _Left:
        catcher = _handler(state.catch, failure)
        if catcher is None:
            raise failure
        error: Json = {"Error": failure.error, "Cause": failure.cause or ""}
        return self._leave(catcher, error, errorOutput=error)

    def _choose(self, state: asl.Choice) -> _Left:
        for index, rule in enumerate(state.choices):
            field = f"Choices/{index}/Condition"
            holds = self._evaluate(rule.condition, field)
            if not isinstance(holds, bool):
                raise self._unfit(field, "true or false", holds)
            if holds:
                return self._leave(rule, self._input)
        if state.next is None:
            raise StateError(errors.NO_CHOICE_MATCHED, f"No rule of {self._name!r} holds.")
        return self._leave(state, self._input)

    def _leave(self, way: asl.Result | asl.Succeed, output: Json, **known: Json) -> _Left:
        """Evaluate output and variables, neither of which sees what is being assigned."""
        if way.output is not None:
            output = self._evaluate(way.output, "Output", **known)
        variables = self._evaluate(way.assign, "Assign", **known)
        assert isinstance(variables, dict)
        limited(variables, f"variables that {self._name!r} assigns")
        return _Left(way.next, limited(output, f"output of {self._name!r}"), variables)

    async def _task(self, task: asl.Task) -> Json:
        arguments = self._input
        if task.arguments is not None:
            arguments = limited(
                self._evaluate(task.arguments, "Arguments"), f"arguments of {self._name!r}"
            )
        scheduled: dict[str, Any] = {
            "region": self._scope.world.region, "parameters": dump(arguments),
        }  # fmt: skip
        seconds = None
        if task.timeout_seconds is not None:
            seconds = self._count(task.timeout_seconds, "TimeoutSeconds")
            scheduled["timeoutInSeconds"] = seconds
        attempt = _Attempt(task.resource, self._trail)
        attempt.add("TaskScheduled", scheduled)
        attempt.add("TaskStarted")
        integration = self._scope.world.integrations[task.resource]
        try:
            async with asyncio.timeout(seconds) as clock:
                result = limited(await integration(arguments, attempt), f"result of {self._name!r}")
        except TimeoutError as error:
            if not clock.expired():
                raise
            attempt.add("TaskTimedOut", {"error": errors.TIMEOUT})
            raise StateError(errors.TIMEOUT) from error
        except StateError as error:
            attempt.add("TaskFailed", {"error": error.error, "cause": error.cause or ""})
            raise
        attempt.add("TaskSucceeded", data("output", result))
        return result

    async def _map(self, state: asl.Map) -> Json:
        items = self._input if state.items is None else self._evaluate(state.items, "Items")
        if not isinstance(items, list):
            raise self._unfit("Items", "an array", items)
        asked = self._count(state.max_concurrency, "MaxConcurrency") or _MOST_ITERATIONS
        slots = asyncio.Semaphore(min(asked, _MOST_ITERATIONS))
        self._trail.add("MapStateStarted", {"length": len(items)})
        begin = self._trail.branch()
        aborted: list[tuple[int, Trail]] = []

        async def iterate(index: int, item: Json) -> Json:
            async with slots:
                trail = begin.branch()
                try:
                    return await self._iterate(state, index, item, trail)
                except asyncio.CancelledError:
                    aborted.append((index, trail))
                    raise
                finally:
                    self._trail.last = trail.last

        try:
            results = await _all(iterate(index, item) for index, item in enumerate(items))
        except StateError:
            for index, trail in aborted:
                trail.add("MapIterationAborted", {"name": self._name, "index": index})
            self._trail.add("MapStateFailed")
            raise
        self._trail.add("MapStateSucceeded")
        return limited(results, f"result of {self._name!r}")

    async def _iterate(self, state: asl.Map, index: int, item: Json, trail: Trail) -> Json:
        details = {"name": self._name, "index": index}
        trail.add("MapIterationStarted", details)
        scope = self._scope.iteration(index, item, trail)
        try:
            if state.item_selector is not None:
                context = {**self._context(), **scope.context}
                item = self._evaluate(state.item_selector, "ItemSelector", context=context)
            output = await run_machine(state.item_processor, item, scope)
        except StateError:
            trail.add("MapIterationFailed", details)
            raise
        trail.add("MapIterationSucceeded", details)
        return output

    def _evaluate(self, template: Template, field: str, **known: Json) -> Json:
        states: Json = {"input": self._input, "context": self._context(), **known}
        bindings = self._scope.variables.new_child({"states": states})
        try:
            return template.evaluate(bindings, self._scope.world.on_evaluate)
        except StateError as error:
            details = {"error": error.error, "cause": error.cause, "location": field}
            self._trail.add("EvaluationFailed", {**details, "state": self._name})
            raise

    def _context(self) -> dict[str, Json]:
        state: Json = {
            "Name": self._name, "EnteredTime": self._entered, "RetryCount": self._retries,
        }  # fmt: skip
        return {**self._scope.context, "State": state}

    def _count(self, template: Template, field: str) -> int:
        value = self._evaluate(template, field)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._unfit(field, "a whole number from 0", value)
        return value

    def _text(self, template: Template, field: str) -> str:
        value = self._evaluate(template, field)
        if not isinstance(value, str):
            raise self._unfit(field, "a string", value)
        return value

    def _unfit(self, field: str, accepted: str, value: Json) -> StateError:
        cause = f"{field} of {self._name!r} must be {accepted}, not {dump(value)}."
        return StateError(errors.QUERY_EVALUATION_ERROR, cause)


class _Attempt:
    """The events of one call of an integration."""

    def __init__(self, resource: str, trail: Trail) -> None:
        service, _, action = resource.rpartition(":::")[2].partition(":")
        self._names = {"resourceType": service, "resource": action}
        self._trail = trail

    def add(self, kind: str, details: Mapping[str, Any] | None = None) -> None:
        self._trail.add(kind, {**self._names, **(details or {})})

    def submitted(self, output: Json) -> None:
        self.add("TaskSubmitted", data("output", output))


def _handler(handlers: tuple[_Handler, ...], failure: StateError) -> _Handler | None:
    return next((one for one in handlers if matches(one.error_equals, failure.error)), None)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _all(works: Iterable[Coroutine[Any, Any, Json]]) -> list[Json]:
    """Await all; the first failure cancels the others and, when they have ended, is raised."""
    # Not a TaskGroup: Python 3.11's leaves its task marked as cancelled, and breaks time-outs.
    tasks = [asyncio.create_task(work) for work in works]
    if not tasks:
        return []
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        await cancel(tasks)
    return [task.result() for task in tasks if task in done]


async def cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
