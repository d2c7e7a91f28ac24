"""The scenarios on LocalStack's interpreter, in an environment of its own.

``python -m tests.system.state_machines.localstack_engine`` reads the definitions of the machines
from standard input, as JSON, and prints the record of each scenario as a line of JSON. Only the
interpreter runs: no server, no container and no connection. Calls get the answers of the scenario,
and waits take no time. The reference implementation of JSONata takes the place of the library for
Java that LocalStack downloads.
"""

# ruff: noqa: E402 (a module takes another's place before the imports)
from __future__ import annotations

import copy
import json
import logging
import subprocess
import sys
import threading
import types
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# LocalStack calls its Java library by this module, which is not installed.
for _name in ("jpype", "jpype.imports"):
    sys.modules[_name] = types.ModuleType(_name)

from localstack.aws.api.stepfunctions import HistoryEventType, TaskFailedEventDetails
from localstack.services.stepfunctions.asl.component.common.error_name.custom_error_name import (
    CustomErrorName,
)
from localstack.services.stepfunctions.asl.component.common.error_name.failure_event import (
    FailureEvent,
    FailureEventException,
)
from localstack.services.stepfunctions.asl.component.common.error_name.states_error_name import (
    StatesErrorName,
)
from localstack.services.stepfunctions.asl.component.common.error_name.states_error_name_type import (  # noqa: E501
    StatesErrorNameType,
)
from localstack.services.stepfunctions.asl.component.common.retry import retrier_decl
from localstack.services.stepfunctions.asl.component.common.timeouts.timeout import EvalTimeoutError
from localstack.services.stepfunctions.asl.component.state.state_execution.state_task.service.state_task_service import (  # noqa: E501
    StateTaskService,
)
from localstack.services.stepfunctions.asl.component.state.state_wait.wait_function.wait_function import (  # noqa: E501
    WaitFunction,
)
from localstack.services.stepfunctions.asl.eval.evaluation_details import (
    AWSExecutionDetails,
    EvaluationDetails,
    ExecutionDetails,
    StateMachineDetails,
)
from localstack.services.stepfunctions.asl.eval.event.event_detail import EventDetails
from localstack.services.stepfunctions.asl.eval.program_state import (
    ProgramEnded,
    ProgramError,
    ProgramStopped,
)
from localstack.services.stepfunctions.asl.jsonata import jsonata
from localstack.services.stepfunctions.backend.execution_worker import SyncExecutionWorker

from tests.system.state_machines.scenarios import (
    ABORTED,
    SCENARIOS,
    Abort,
    Answers,
    Failed,
    Scenario,
    Silent,
)

_REFERENCE = Path(__file__).parents[1] / "end_to_end" / "replay.mjs"


class Reference:
    """The reference implementation of JSONata, in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            ["node", _REFERENCE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._lock = threading.Lock()

    def evaluate(self, expression: str) -> Any:
        with self._lock:
            assert self._process.stdin
            assert self._process.stdout
            self._process.stdin.write(json.dumps({"expression": expression, "bindings": {}}) + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise jsonata.JSONataException("UNKNOWN", answer["error"])
        return answer.get("value")

    def end(self) -> None:
        self._process.communicate()


class Run:
    """One run of a scenario, and the calls that it makes."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario, self._answers = scenario, Answers(scenario)
        self._calls: list[tuple[str, Any]] = []
        self._lock = threading.Lock()

    def call(self, state: Any, env: Any) -> None:
        """Take the place of a service: answer the call of a Task state."""
        state.resource.eval(env=env)
        place = env.stack.pop()
        arguments = state._eval_parameters(env=env)
        credentials = state._eval_state_credentials(env=env)
        state._before_eval_execution(
            env=env,
            resource_runtime_part=place,
            raw_parameters=arguments,
            state_credentials=credentials,
        )
        try:
            with self._lock:
                given = copy.deepcopy(arguments)
                # Step Functions adds it, and no definition has it.
                given.pop("StartedBy", None)
                self._calls.append((state.resource.resource_arn, given))
                answer = self._answers(state.resource.resource_arn, given)
        except Silent:
            raise EvalTimeoutError from None
        except Abort:
            self._worker.stop(datetime.now(UTC), *ABORTED)
            answer = {}
        except Failed as failed:
            raise FailureEventException(_event(env, failed)) from None
        env.stack.append(answer)
        # The answer is that at the end of the work: nothing of `.sync` is left to wait for.
        StateTaskService._after_eval_execution(
            state,
            env=env,
            resource_runtime_part=place,
            normalised_parameters=arguments,
            state_credentials=credentials,
        )

    def record(self, definition: str) -> dict[str, Any]:
        """Run a definition to its end and return its record."""
        self._worker = worker = SyncExecutionWorker(
            EvaluationDetails(
                AWSExecutionDetails("123456789012", "us-east-1", "role"),
                ExecutionDetails(
                    "execution-arn", "run", "role", self._scenario.input, "2026-11-20T00:00:00.000Z"
                ),
                StateMachineDetails("machine-arn", "machine", "STANDARD", definition),
            ),
            _Listener(),
            None,
            {},
        )
        worker.start()
        events = worker.env.event_manager.get_event_history()
        return {
            **_result(worker.env),
            "path": [
                event["stateEnteredEventDetails"]["name"]
                for event in events
                if "stateEnteredEventDetails" in event
            ],
            "calls": self._calls,
            "events": [event["type"] for event in events],
        }


class _Listener:
    def terminated(self) -> None:
        """Do nothing at the end of an execution."""


class _NoTime:
    """The module ``time`` without waits."""

    @staticmethod
    def sleep(_seconds: float) -> None:
        pass


def _event(env: Any, failed: Failed) -> Any:
    known = {each.to_name(): each for each in StatesErrorNameType}
    name = (
        StatesErrorName(typ=known[failed.error])
        if failed.error in known
        else CustomErrorName(failed.error)
    )
    details = TaskFailedEventDetails(error=failed.error, cause=failed.cause)
    return FailureEvent(
        env=env,
        error_name=name,
        event_type=HistoryEventType.TaskFailed,
        event_details=EventDetails(taskFailedEventDetails=details),
    )


def _result(env: Any) -> dict[str, Any]:
    state = env.program_state()
    if isinstance(state, ProgramEnded):
        return {"status": "SUCCEEDED", "output": env.states.get_input()}
    if isinstance(state, ProgramStopped):
        return {"status": "ABORTED", "error": state.error, "cause": state.cause}
    assert isinstance(state, ProgramError), state
    details = state.error or {}
    return {"status": "FAILED", "error": details.get("error"), "cause": details.get("cause")}


def main() -> None:
    """Print the record of each scenario."""
    logging.disable(logging.CRITICAL)
    definitions: Mapping[str, str] = json.load(sys.stdin)
    reference = Reference()
    jsonata.eval_jsonata_expression = reference.evaluate
    jsonata._eval_jsonata = reference.evaluate
    retrier_decl.time = _NoTime
    WaitFunction._wait_interval = lambda *_, **__: None
    for name, scenario in SCENARIOS.items():
        run = Run(scenario)
        StateTaskService._eval_execution = lambda state, env, run=run: run.call(state, env)
        print(
            json.dumps({"scenario": name, **run.record(definitions[scenario.machine])}), flush=True
        )
    reference.end()


if __name__ == "__main__":
    main()
