"""The integrations of Task states: each calls the cloud's own API.

Source: AWS Step Functions developer guide, "Integrating services" and "Run Amazon ECS/Fargate
tasks".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from botocore import xform_name
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from botocore.model import OperationModel
from botocore.parsers import ResponseParserError

from onebox.asl import errors
from onebox.asl.errors import StateError
from onebox.asl.interpreter import Integration, Submission
from onebox.asl.payload import Json, dump, parse
from onebox.cloud.endpoint import Endpoint

_Work = TypeVar("_Work")
_SERVICE_EXCEPTIONS = {
    "ECS": "AmazonECSException",
    "Lambda": "AWSLambdaException",
    "StepFunctions": "AWSStepFunctionsException",
}


class TaskEnds(Protocol):
    """The ends of ECS tasks."""

    def stopped(self, task_arn: str) -> Future[None]:
        """Return a future that is done once the task is STOPPED."""


@dataclass(frozen=True)
class Services:
    """The services of a cloud that Task states call, in the role of their machine."""

    _endpoint: Endpoint
    _role: str
    _task_ends: TaskEnds
    _execution_end: Callable[[str], Future[None]]
    """Returns a future that is done once the execution of an ARN has ended."""

    def integrations(self) -> Mapping[str, Integration]:
        """Return the integrations of Task states, by resource."""
        return {
            "arn:aws:states:::ecs:runTask": self._start_task,
            "arn:aws:states:::ecs:runTask.sync": self._run_task,
            "arn:aws:states:::lambda:invoke": self._invoke,
            "arn:aws:states:::states:startExecution.sync:2": self._start_execution,
        }

    async def _invoke(self, arguments: Json, _: Submission) -> Json:
        answer = await self._call("Lambda", "Invoke", arguments)
        if "FunctionError" in answer:
            payload = answer.get("Payload")
            kind = payload.get("errorType") if isinstance(payload, dict) else None
            raise StateError(kind or "Lambda.Unknown", dump(payload))
        return answer

    async def _start_execution(self, arguments: Json, submission: Submission) -> Json:
        if isinstance(arguments, dict) and not isinstance(arguments.get("Input"), str):
            arguments = {**arguments, "Input": dump(arguments.get("Input", {}))}

        async def follow(work: dict[str, Any]) -> None:
            submission.submitted(work)
            await _wait_for(self._execution_end(work["ExecutionArn"]))

        async def stop(work: dict[str, Any]) -> None:
            await self._call(
                "StepFunctions", "StopExecution", {"ExecutionArn": work["ExecutionArn"]}
            )

        start = self._call("StepFunctions", "StartExecution", arguments, "ExecutionArn")
        arn = {"ExecutionArn": (await _follow_to_end(start, follow, stop))["ExecutionArn"]}
        child = await self._call("StepFunctions", "DescribeExecution", arn, "Status")
        for field in child.keys() & {"Input", "Output"}:
            child[field] = parse(child[field])
        if child["Status"] != "SUCCEEDED":
            raise StateError(errors.TASK_FAILED, dump(child))
        return child

    async def _start_task(self, arguments: Json, _: Submission) -> Json:
        # Without .sync an answer without a task is a result: the states that follow look at it.
        return await self._call("ECS", "RunTask", arguments, "Failures", "Tasks")

    async def _run_task(self, arguments: Json, submission: Submission) -> Json:
        if isinstance(arguments, dict) and arguments.get("Count", 1) != 1:
            raise StateError(errors.RUNTIME, f"Count is {arguments['Count']}; accepted: 1.")
        # Step Functions itself sets this field for a task of .sync.
        if isinstance(arguments, dict) and "StartedBy" in arguments:
            raise StateError(errors.RUNTIME, "StartedBy is not supported by Step Functions.")

        async def follow(work: dict[str, Any]) -> None:
            submission.submitted(work)
            await _wait_for(self._task_ends.stopped(work["Tasks"][0]["TaskArn"]))

        async def stop(work: dict[str, Any]) -> None:
            task = work["Tasks"][0]
            names = {"Cluster": task["ClusterArn"], "Task": task["TaskArn"]}
            reason = "The Step Functions task was aborted or timed out."
            await self._call("ECS", "StopTask", {**names, "Reason": reason})
            # A task that ignores SIGTERM runs for 30 s more, and must not overlap the next trial.
            await _wait_for(self._task_ends.stopped(task["TaskArn"]))

        work = await _follow_to_end(self._start_placed(arguments), follow, stop)
        task = await self._stopped_task(work["Tasks"][0])
        # A container that is not essential and never ran fails the state (aws/aws-cdk#32877).
        if any(container.get("ExitCode") != 0 for container in task["Containers"]):
            raise StateError(errors.TASK_FAILED, dump(task))
        return task

    async def _start_placed(self, arguments: Json) -> dict[str, Any]:
        answer = await self._call("ECS", "RunTask", arguments, "Failures", "Tasks")
        if answer["Failures"]:
            raise StateError("AmazonECS.Unknown", dump(answer))
        return answer

    async def _stopped_task(self, task: dict[str, Any]) -> dict[str, Any]:
        names = {"Cluster": task["ClusterArn"], "Tasks": [task["TaskArn"]]}
        answer = await self._call("ECS", "DescribeTasks", names, "Tasks")
        description: dict[str, Any] = answer["Tasks"][0]
        return description

    async def _call(
        self, service: str, operation: str, arguments: Json, *required: str
    ) -> dict[str, Any]:
        """Call an API; fields are in Pascal case and errors have their names in Step Functions.

        An answer without a field of ``required`` is an error: botocore turns a body that is not
        JSON into an answer with only a message.
        """
        client = self._endpoint.client(service.lower(), role=self._role)
        model = client.meta.service_model.operation_model(operation)

        def call() -> dict[str, Any]:
            request = _to_api(arguments, model.input_shape)
            answer = getattr(client, xform_name(operation))(**request)
            result: dict[str, Any] = _from_api(answer, model.output_shape)
            return result

        try:
            answer = await asyncio.to_thread(call)
        except ParamValidationError as error:
            raise StateError(errors.RUNTIME, str(error)) from error
        except ClientError as error:
            raise StateError(_error_name(service, model, error), str(error)) from error
        except (BotoCoreError, ResponseParserError, UnicodeDecodeError) as error:
            raise StateError(f"{service}.SdkClientException", str(error)) from error
        if missing := [field for field in required if field not in answer]:
            cause = f"the answer of {operation} has no {missing[0]}: {dump(answer)}"
            raise StateError(f"{service}.SdkClientException", cause)
        return answer


def _error_name(service: str, model: OperationModel, error: ClientError) -> str:
    """Return the name of an API's error in Step Functions.

    An error that is missing in the API's model, such as a throttling by ECS, gets the name of the
    SDK's exception for the whole service (docs/retries.md has the sources).
    """
    code: str = error.response["Error"]["Code"]
    modelled = {shape.name for shape in model.error_shapes}
    return f"{service}.{code if code in modelled else _SERVICE_EXCEPTIONS[service]}"


async def _follow_to_end(
    start: Awaitable[_Work],
    follow: Callable[[_Work], Awaitable[None]],
    stop: Callable[[_Work], Awaitable[None]],
) -> _Work:
    """Start work and follow it to its end; stop it on cancellation, even while it starts."""
    pending = asyncio.ensure_future(start)

    async def stop_started() -> None:
        await stop(await pending)

    try:
        work = await asyncio.shield(pending)
        await follow(work)
    except asyncio.CancelledError:
        await asyncio.shield(asyncio.ensure_future(stop_started()))
        raise
    return work


async def _wait_for(future: Future[None]) -> None:
    # The shield keeps a cancelled waiter from cancelling the future for its other users.
    await asyncio.shield(asyncio.wrap_future(future))


def _to_api(value: Any, shape: Any) -> Any:  # noqa: ANN401 (botocore's shapes are untyped)
    if shape.type_name == "structure" and isinstance(value, dict):
        names = {_pascal(member): member for member in shape.members}
        if unknown := sorted(value.keys() - names.keys()):
            cause = f"{shape.name} has no field {unknown[0]!r}; accepted: {', '.join(names)}."
            raise StateError(errors.RUNTIME, cause)
        return {
            names[name]: _to_api(member, shape.members[names[name]])
            for name, member in value.items()
        }
    if shape.type_name == "list" and isinstance(value, list):
        return [_to_api(item, shape.member) for item in value]
    if shape.type_name == "map" and isinstance(value, dict):
        return {key: _to_api(item, shape.value) for key, item in value.items()}
    return dump(value).encode() if shape.type_name == "blob" else value


def _from_api(value: Any, shape: Any) -> Any:  # noqa: ANN401
    match shape.type_name:
        case "structure":
            return {
                _pascal(name): _from_api(value[name], member)
                for name, member in shape.members.items()
                if name in value
            }
        case "list":
            return [_from_api(item, shape.member) for item in value]
        case "map":
            return {key: _from_api(item, shape.value) for key, item in value.items()}
        case "timestamp":
            return int(value.timestamp() * 1000)  # milliseconds, as in AWS's events
        case "blob":
            return _json_or_text(value.read().decode())
    return value


def _json_or_text(text: str) -> Json:
    try:
        return parse(text)
    except ValueError:
        return text


def _pascal(name: str) -> str:
    return name[0].upper() + name[1:]
