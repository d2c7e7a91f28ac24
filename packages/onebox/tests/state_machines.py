"""A lab for state machines whose clock jumps: sleeps end at once, endless waits are errors."""

import asyncio
import json
import selectors
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest

from onebox.asl.definition import read_definition
from onebox.asl.execution import Execution, Identity
from onebox.asl.interpreter import Integration, World

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)


class JumpingSelector(selectors.SelectSelector):
    """A selector that advances the clock of its loop by the time-out instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise AssertionError("all tasks wait, and nothing would wake them")
        self.now += timeout
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.jumps = JumpingSelector()
        super().__init__(self.jumps)

    def time(self) -> float:
        return self.jumps.now


class Lab:
    """A lab that runs state machines against fake integrations without waiting."""

    def __init__(self) -> None:
        self.integrations: dict[str, Integration] = {}
        self.evaluated: list[tuple[str, Mapping[str, Any], Any]] = []
        self.loop = JumpingLoop()

    def start(self, states: dict[str, Any], value: Any = None, **machine: Any) -> Execution:
        fields = {"QueryLanguage": "JSONata", "StartAt": next(iter(states)), "States": states}
        world = World(
            integrations=self.integrations,
            region="us-east-1",
            clock=lambda: MIDNIGHT + timedelta(seconds=self.loop.time()),
            jitter=lambda longest: longest / 2,
            on_evaluate=lambda *evaluation: self.evaluated.append(evaluation),
        )
        identity = Identity(
            arn="execution-arn",
            name="run",
            role="role",
            machine_arn="machine-arn",
            machine_name="machine",
        )
        definition = _read(json.dumps(fields | machine), frozenset(self.integrations))
        return Execution(definition, identity, value, world)

    def run(self, states: dict[str, Any], value: Any = None, **machine: Any) -> Execution:
        execution = self.start(states, value, **machine)
        self.loop.run_until_complete(execution.run())
        return execution

    def evaluate(self, output: Any, value: Any = None) -> Any:
        """Return the output of a Pass state for a template, or the name of its error."""
        execution = self.run({"A": {"Type": "Pass", "Output": output, "End": True}}, value)
        return execution.output if execution.status == "SUCCEEDED" else execution.error

    def kinds(self, execution: Execution) -> list[str]:
        return [event["type"] for event in execution.history.events]


# Many tests run one long definition.
_read = cache(read_definition)


@pytest.fixture
def lab():
    laboratory = Lab()
    yield laboratory
    laboratory.loop.close()
