"""Step Functions on one machine: moto's API, with our own interpreter behind it.

moto stores the state machines; our interpreter runs the executions. Source: AWS Step Functions API
reference.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from moto.core.exceptions import AWSError
from moto.core.responses import ActionResult
from moto.core.utils import pascal_to_camelcase, remap_nested_keys
from moto.stepfunctions.exceptions import (
    ExecutionAlreadyExists,
    InvalidExecutionInput,
    InvalidToken,
)
from moto.stepfunctions.models import StateMachine, StepFunctionBackend, stepfunctions_backends
from moto.stepfunctions.responses import StepFunctionResponse
from moto.stepfunctions.utils import cfn_to_api_tags

from onebox.app import ACCOUNT, REGION
from onebox.asl.definition import InvalidDefinition, read_definition
from onebox.asl.definition import StateMachine as Definition
from onebox.asl.errors import StateError
from onebox.asl.execution import Execution, Identity
from onebox.asl.interpreter import Integration, Jitter, World, full_jitter
from onebox.asl.jsonata import OnEvaluate
from onebox.asl.payload import Json, dump, limited, parse
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.integrations import Services, TaskEnds
from onebox.cloud.replacements import Replacements, forget_oldest

OnChange = Callable[[Mapping[str, Any]], None]

_PARALLEL_CALLS = 64  # one per connection of the endpoint's clients
_EVENTS_PER_PAGE = 1000
# An ended execution stays until newer executions have this number of events of some 1 kB.
_MOST_EVENTS = 50_000
_NOT_RUN_HERE = (
    "create_activity", "create_state_machine_alias", "describe_map_run", "list_map_runs",
    "send_task_failure", "send_task_heartbeat", "send_task_success", "update_map_run",
    "update_state_machine",
)  # fmt: skip

_log = logging.getLogger(__name__)


class _Run:
    """An execution in the form of moto and the API."""

    end: Future[None]

    def __init__(self, execution: Execution, text: str) -> None:
        self.execution = execution
        self.execution_arn = execution.identity.arn
        self.name = execution.identity.name
        self.execution_input = text
        self.start_date = execution.started

    @property
    def status(self) -> str:
        return self.execution.status

    def events(self) -> int:
        """Return the number of events to keep, 0 if the execution has not ended."""
        return len(self.execution.history.events) if self.end.done() else 0

    def summary(self) -> dict[str, Any]:
        """Return the execution in the form of ListExecutions."""
        summary = {
            "executionArn": self.execution_arn,
            "stateMachineArn": self.execution.identity.machine_arn,
            "name": self.name,
            "status": self.status,
            "startDate": self.start_date,
        }
        if summary["status"] != "RUNNING":
            summary["stopDate"] = self.execution.stopped
        return summary

    def description(self) -> dict[str, Any]:
        """Return the execution in the form of DescribeExecution."""
        description = self.summary()
        description["input"] = self.execution_input
        description["inputDetails"] = {"included": True}
        if description["status"] == "SUCCEEDED":
            description["output"] = dump(self.execution.output)
            description["outputDetails"] = {"included": True}
        elif description["status"] != "RUNNING":
            reason = {"error": self.execution.error, "cause": self.execution.cause}
            description.update((name, text) for name, text in reason.items() if text is not None)
        return description


class StateMachines:
    """moto's state machines, which run until they are closed, on an event loop in its own thread.

    Parameters
    ----------
    endpoint
        The cloud whose services the integrations call.
    task_ends
        The ends of ECS tasks.
    on_change
        Called in the executions' thread with an execution's description at each new status.
    on_evaluate
        Called in the executions' thread for every evaluated JSONata expression.
    jitter
        Returns the seconds to wait before a retry, at most its argument.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        task_ends: TaskEnds,
        on_change: OnChange = lambda _: None,
        on_evaluate: OnEvaluate | None = None,
        jitter: Jitter = full_jitter,
    ) -> None:
        self._endpoint = endpoint
        self._task_ends = task_ends
        self._world = World(
            integrations=self._integrations(role=""),
            region=REGION,
            jitter=jitter,
            on_evaluate=on_evaluate,
        )
        self._on_change = on_change
        self._runs: dict[str, _Run] = {}
        self._definitions: dict[str, Definition] = {}
        self._starting = threading.Lock()
        self._closing = False
        self._replacements = Replacements()
        self._calls = ThreadPoolExecutor(_PARALLEL_CALLS, "state-machines-call")
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(self._calls)
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="state-machines", daemon=True
        )
        self._thread.start()
        self._replace_methods()

    def abort(self) -> None:
        """Start no more executions, abort all that run and wait; the API still answers."""
        with self._starting:
            self._closing = True
        for run in self._runs.values():
            self.stop(run, "Cloud.closed", "the one-machine cloud was taken down")

    def close(self) -> None:
        """Abort the running executions, wait for their end, and restore moto's own methods."""
        self.abort()
        self._replacements.restore()
        self._calls.shutdown()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self, machine: StateMachine, name: str, text: str) -> _Run:
        """Start an execution, or return the running one of this name and input.

        Raises
        ------
        InvalidExecutionInput
            If the input is not JSON or is too large.
        ExecutionAlreadyExists
            If an execution of this name has ended or has another input.
        """
        try:
            value = limited(parse(text), "input")
        except (ValueError, StateError) as error:
            raise InvalidExecutionInput(
                f"Invalid State Machine Execution Input: '{error}'"
            ) from error
        arn = f"{machine.arn.replace(':stateMachine:', ':execution:')}:{name}"
        with self._starting:
            if self._closing:
                raise AWSError("The one-machine cloud is closing.", "ServiceUnavailable", 503)
            previous = self._runs.get(arn)
            if previous is None:
                self._forget_oldest()
                self._runs[arn] = run = self._start(machine, arn, name, text, value)
                machine.executions.append(run)  # type: ignore[arg-type]  # has all that moto reads
                return run
        if previous.status == "RUNNING" and previous.execution_input == text:
            return previous
        raise ExecutionAlreadyExists(f"Execution Already Exists: '{arn}'")

    def _start(self, machine: StateMachine, arn: str, name: str, text: str, value: Json) -> _Run:
        identity = Identity(
            arn=arn,
            name=name,
            role=machine.roleArn,
            machine_arn=machine.arn,
            machine_name=machine.name,
        )
        # All executions of a machine share one: the parsed definition has 300 kB.
        definition = self._definitions.get(machine.definition)
        if definition is None:
            definition = read_definition(machine.definition, self._world.integrations)
            self._definitions[machine.definition] = definition
        world = replace(self._world, integrations=self._integrations(machine.roleArn))
        execution = Execution(definition, identity, value, world)
        run = _Run(execution, text)
        run.end = asyncio.run_coroutine_threadsafe(self._run(run), self._loop)
        run.end.add_done_callback(_report_fault)
        return run

    def _forget_oldest(self) -> None:
        if forget_oldest(self._runs, _Run.events, _MOST_EVENTS):
            for machine in stepfunctions_backends[ACCOUNT][REGION].state_machines:
                known = [run for run in machine.executions if run.execution_arn in self._runs]
                machine.executions = known

    async def _run(self, run: _Run) -> None:
        self._on_change(run.description())
        try:
            await run.execution.run()
        finally:
            self._on_change(run.description())

    def stop(
        self, run: _Run, error: str | None = None, cause: str | None = None
    ) -> datetime | None:
        """Abort an execution if it runs; return the time of its end."""
        self._loop.call_soon_threadsafe(run.execution.stop, error, cause)
        wait([run.end])
        return run.execution.stopped

    def _check(self, definition: str) -> None:
        try:
            read_definition(definition, self._world.integrations)
        except InvalidDefinition as error:
            raise AWSError(str(error), "InvalidDefinition", 400) from error

    def _integrations(self, role: str) -> Mapping[str, Integration]:
        """Return the integrations of Task states in the role of their machine."""
        return Services(self._endpoint, role, self._task_ends, self._end_of).integrations()

    def _end_of(self, execution_arn: str) -> Future[None]:
        return self._runs[execution_arn].end

    def _replace_methods(self) -> None:
        """Make moto's Step Functions check definitions, and run them."""
        replacements = self._replacements

        def create(
            backend: StepFunctionBackend,
            name: str,
            definition: str,
            *args: object,
            **options: object,
        ) -> StateMachine:
            if options.get("sm_type") not in (None, "STANDARD"):
                message = f"type is {options['sm_type']}; accepted: STANDARD."
                raise AWSError(message, "StateMachineTypeNotSupported", 400)
            self._check(definition)
            machine: StateMachine = original_create(backend, name, definition, *args, **options)
            if machine.definition != definition:
                message = f"State Machine Already Exists: '{machine.arn}'"
                raise AWSError(message, "StateMachineAlreadyExists", 400)
            return machine

        def start(backend: StepFunctionBackend, arn: str, name: str | None, text: str) -> _Run:
            if name is not None:
                backend._validate_name(name)
            return self.start(backend.describe_state_machine(arn), name or str(uuid4()), text)

        def stop(response: StepFunctionResponse) -> ActionResult:
            error, cause = response._get_param("error"), response._get_param("cause")
            return ActionResult({"stopDate": self.stop(_run_of(response), error, cause)})

        original_create = replacements.set(StepFunctionBackend, "create_state_machine", create)
        replacements.set(StepFunctionBackend, "start_execution", start)
        replacements.set(StepFunctionResponse, "stop_execution", stop)
        replacements.set(StepFunctionResponse, "describe_execution", _describe_execution)
        replacements.set(StepFunctionResponse, "list_executions", _list_executions)
        replacements.set(StepFunctionResponse, "get_execution_history", _get_execution_history)
        replacements.refuse(StepFunctionResponse, _NOT_RUN_HERE)
        _accept_templates(replacements)


def _report_fault(end: Future[None]) -> None:
    if fault := end.exception():
        _log.error("The interpreter failed.", exc_info=fault)


# --- The API ---


def _run_of(response: StepFunctionResponse) -> _Run:
    arn = response._get_param("executionArn")
    run: Any = response.stepfunction_backend.describe_execution(arn)
    assert isinstance(run, _Run)
    return run


def _describe_execution(response: StepFunctionResponse) -> ActionResult:
    return ActionResult(_run_of(response).description())


def _list_executions(response: StepFunctionResponse) -> ActionResult:
    page: Any = response.stepfunction_backend.list_executions(
        response._get_param("stateMachineArn"),
        status_filter=response._get_param("statusFilter"),
        max_results=response._get_int_param("maxResults"),
        next_token=response._get_param("nextToken"),
    )
    runs, token = page
    return ActionResult({"executions": [run.summary() for run in runs], "nextToken": token})


def _get_execution_history(response: StepFunctionResponse) -> ActionResult:
    events = _run_of(response).execution.history.events[:]
    if response._get_param("reverseOrder"):
        events.reverse()
    token = response._get_param("nextToken") or "0"
    if not token.isdecimal():
        raise InvalidToken(token)
    first = int(token)
    last = first + (response._get_int_param("maxResults") or _EVENTS_PER_PAGE)
    page = events[first:last]
    if response._get_param("includeExecutionData") is False:
        page = [_without_data(event) for event in page]
    return ActionResult({"events": page, "nextToken": str(last) if last < len(events) else None})


def _without_data(event: dict[str, Any]) -> dict[str, Any]:
    hidden = ("input", "inputDetails", "output", "outputDetails", "parameters")
    return {
        name: {key: item for key, item in value.items() if key not in hidden}
        if isinstance(value, Mapping)
        else value
        for name, value in event.items()
    }


def _accept_templates(replacements: Replacements) -> None:
    """Make templates create state machines with all of their properties."""

    def attribute(machine: StateMachine, name: str) -> object:
        return machine.arn if name == "Arn" else attribute_of(machine, name)

    def has_attribute(name: str) -> bool:
        return name == "Arn" or bool(has_other(name))

    replacements.set(StateMachine, "create_from_cloudformation_json", classmethod(_created))
    attribute_of = replacements.set(StateMachine, "get_cfn_attribute", attribute)
    has_other = replacements.set(StateMachine, "has_cfn_attr", has_attribute)


def _created(
    _: type, /, name: str, template: dict[str, Any], account: str, region: str, **__: object
) -> StateMachine:
    properties = template["Properties"]
    return stepfunctions_backends[account][region].create_state_machine(
        properties.get("StateMachineName", name),
        _definition(properties),
        properties["RoleArn"],
        tags=cfn_to_api_tags(properties.get("Tags", [])),
        loggingConfiguration=_configuration(properties, "LoggingConfiguration"),
        tracingConfiguration=_configuration(properties, "TracingConfiguration"),
        sm_type=properties.get("StateMachineType"),
    )


def _definition(properties: Mapping[str, Any]) -> str:
    definition: str = properties["DefinitionString"]
    for key, value in properties.get("DefinitionSubstitutions", {}).items():
        text = value if isinstance(value, str) else dump(value)
        definition = definition.replace(f"${{{key}}}", text)
    return definition


def _configuration(properties: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 (moto's)
    return remap_nested_keys(properties.get(name), pascal_to_camelcase)
