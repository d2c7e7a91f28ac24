"""The interpreter of state machines: states run in sequence or, in a Map, in parallel."""

from __future__ import annotations

import asyncio
import random
from collections import ChainMap, Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol, TypeVar

from onebox.asl import definition as asl
from onebox.asl import errors
from onebox.asl.errors import StateError, matches
from onebox.asl.history import Trail, data
from onebox.asl.jsonata import OnEvaluate, Template
from onebox.asl.payload import Json, dump, limited


class Submission(Protocol):
    """The channel by which an integration reports its progress."""

    def submitted(self, output: Json) -> None:
        """Record the answer with which the service accepted the work."""


# An inline Map runs at most 40 iterations at once, whatever its MaxConcurrency (Developer Guide,
# "Using Map state in Inline mode").
_MAX_ITERATIONS = 40

Integration = Callable[[Json, Submission], Awaitable[Json]]
Jitter = Callable[[float], float]
_Handler = TypeVar("_Handler", asl.Retrier, asl.Catcher)


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def full_jitter(longest: float) -> float:
    """Return a random number of seconds from 0 to ``longest``."""
    return random.uniform(0, longest)  # noqa: S311 (no secret)


def timestamp(time: datetime) -> str:
    """Return a time as the context object shows it: ``2026-11-20T12:41:32.762Z``."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, kw_only=True)
class World:
    """
    The surroundings of executions.

    Attributes
    ----------
    integrations
        The function for each Resource of a Task. It takes the arguments and returns the result of
        the task or raises StateError. If cancelled, it first stops the work that it started.
    region
        The region of the tasks in the history.
    clock
        The function that returns the current time with its zone.
    jitter
        The function that returns the delay for JitterStrategy FULL, at most its argument [s].
    on_evaluate
        The function that is called with each JSONata expression, the bindings that the expression
        names, and the result.
    """

    integrations: Mapping[str, Integration]
    region: str
    clock: Callable[[], datetime] = utc_now
    jitter: Jitter = full_jitter
    on_evaluate: OnEvaluate | None = None


@dataclass(frozen=True)
class Scope:
    """The data that the states of one machine share, in the execution or in one Map iteration."""

    world: World
    context: dict[str, Json]
    variables: ChainMap[str, Json]  # of the machine, then of the outer machines
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
    Run the states of a machine from the first to the last and return the last output.

    Raises
    ------
    StateError
        The error that no state caught.
    """
    name: str | None = machine.start_at
    while name is not None:
        await asyncio.sleep(0)  # lets other tasks run beside a loop that never waits
        name, value = await _Visit(scope, name, machine.states[name], value).run()
    return value


class _Exit(NamedTuple):
    next: str | None
    output: Json
    variables: dict[str, Json]


class _Visit:
    """One visit of a state, with all its retries."""

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
        exit_ = await self._work()
        self._scope.variables.update(exit_.variables)
        details = {"name": self._name, **data("output", exit_.output)}
        if exit_.variables:
            texts = {name: dump(value) for name, value in exit_.variables.items()}
            details["assignedVariables"] = texts
            details["assignedVariablesDetails"] = {"truncated": False}
        self._trail.add(f"{self._state.type}StateExited", details)
        return exit_.next, exit_.output

    async def _work(self) -> _Exit:
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

    async def _repeat(self, state: asl.Task | asl.Map) -> _Exit:
        attempts: Counter[asl.Retrier] = Counter()
        while True:
            try:
                result = await (
                    self._task(state) if isinstance(state, asl.Task) else self._map(state)
                )
                return self._leave(state, result, result=result)
            except StateError as error:
                if _is_cancelled():  # a failure during an abort must not stop the abort
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

    def _catch(self, state: asl.Task | asl.Map, failure: StateError) -> _Exit:
        catcher = _handler(state.catch, failure)
        if catcher is None:
            raise failure
        error: Json = {"Error": failure.error, "Cause": failure.cause or ""}
        return self._leave(catcher, error, errorOutput=error)

    def _choose(self, state: asl.Choice) -> _Exit:
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

    def _leave(self, outcome: asl.Result | asl.Succeed, output: Json, **members: Json) -> _Exit:
        """Evaluate Output and Assign; both see the old values of the variables."""
        if outcome.output is not None:
            output = self._evaluate(outcome.output, "Output", **members)
        variables = self._evaluate(outcome.assign, "Assign", **members)
        assert isinstance(variables, dict)
        limited(variables, f"variables that {self._name!r} assigns")
        return _Exit(outcome.next, limited(output, f"output of {self._name!r}"), variables)

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
        requested = self._count(state.max_concurrency, "MaxConcurrency") or _MAX_ITERATIONS
        slots = asyncio.Semaphore(min(requested, _MAX_ITERATIONS))
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
            results = await _gather(iterate(index, item) for index, item in enumerate(items))
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

    def _evaluate(self, template: Template, field: str, **members: Json) -> Json:
        states: Json = {"input": self._input, "context": self._context(), **members}
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
    return next((rule for rule in handlers if matches(rule.error_equals, failure.error)), None)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _gather(coroutines: Iterable[Coroutine[Any, Any, Json]]) -> list[Json]:
    """Return all results; at the first failure cancel the others, await them and raise it."""
    # Python 3.11's TaskGroup leaves its task marked as cancelled, which breaks time-outs.
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
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
