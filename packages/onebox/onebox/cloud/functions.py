"""AWS Lambda on one machine: functions, run by AWS's Python runtime, and their queue of events.

moto stores the functions and answers the API; this module replaces the invocation, which runs each
function's own asset. It refuses a function at its creation, by name, for each setting that cannot
be honoured here.
"""

from __future__ import annotations

import base64
import compileall
import hashlib
import io
import json
import logging
import re
import tempfile
import threading
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NoReturn

from moto.awslambda.exceptions import InvalidParameterValueException, LambdaClientError
from moto.awslambda.models import LambdaBackend, LambdaFunction
from moto.awslambda.responses import LambdaResponse
from moto.awslambda_simple.models import LambdaSimpleBackend
from moto.cloudwatch.models import cloudwatch_backends
from moto.core.config import default_user_config

from onebox.app import ACCOUNT, REGION
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.environments import Answer, Environments, Function
from onebox.cloud.logs import CloudWatchLogs
from onebox.cloud.processes import Guard
from onebox.cloud.replacements import Replacements, not_honoured
from onebox.cloud.sealed_folders import is_sealed, mark_used, seal

_PAUSES_SECONDS = (1.0, 2.0)
_THREADS = 16

_log = logging.getLogger(__name__)


class EventQueue:
    """The undelivered events of functions; ``invoke`` runs a function on one event."""

    def __init__(self, invoke: Callable[[Function, bytes], Answer]) -> None:
        self._invoke = invoke
        self._threads = ThreadPoolExecutor(_THREADS, "functions-events")
        self._lock = threading.Lock()
        self._unfinished: set[Future[None]] = set()
        self._skip_pauses = threading.Event()

    def put(self, function: Function, payload: bytes) -> None:
        """Queue an event for a function."""
        with self._lock:
            delivery = self._threads.submit(self._deliver, function, payload)
            self._unfinished.add(delivery)
        delivery.add_done_callback(self._forget)

    def drain(self, seconds: float) -> None:
        """Wait at most ``seconds`` until every event is delivered."""
        self._skip_pauses.set()
        with self._lock:
            unfinished = list(self._unfinished)
        _, late = wait(unfinished, seconds)
        if late:
            _log.warning("%d events were still being delivered after %g s.", len(late), seconds)

    def close(self) -> None:
        """Drop the waiting events, and end. The caller must have killed the functions before."""
        self._skip_pauses.set()
        self._threads.shutdown(cancel_futures=True)

    def _forget(self, delivery: Future[None]) -> None:
        with self._lock:
            self._unfinished.discard(delivery)
        if not delivery.cancelled() and (fault := delivery.exception()):
            _log.error("An event was not delivered.", exc_info=fault)

    def _deliver(self, function: Function, payload: bytes) -> None:
        try:
            answer = self._invoke(function, payload)
            for pause in _PAUSES_SECONDS:
                if not answer.failed:
                    return
                self._skip_pauses.wait(pause)
                answer = self._invoke(function, payload)
        except LambdaClientError as error:  # the cloud is closing
            _log.warning("%s did not get an event: %s.", function.name, error.message)
            return
        if answer.failed:
            # Without a destination for failures Lambda drops the event; only its metrics show it.
            reason = answer.payload.decode(errors="replace")
            _log.warning("%s failed in every attempt: %s", function.name, reason)


# AWS documentation, Lambda quotas: request and response of a synchronous invocation, and the event
# of an asynchronous invocation.
MOST_PAYLOAD_BYTES = 6_291_456
MOST_EVENT_BYTES = 1_048_576
_TAIL_BYTES = 4096  # what LogType=Tail returns

_POWERTOOLS = re.compile(
    r"arn:aws:lambda:[a-z0-9-]+:017000801446:layer:AWSLambdaPowertoolsPythonV3-[a-z0-9_-]+:\d+"
)
# Three settings have no effect: pure Python runs on any architecture, the disk here has no smaller
# limit than Lambda's, and only X-Ray would show traces.
_HONOURED = {
    "Architectures", "Code", "Description", "Environment", "EphemeralStorage", "FunctionName",
    "Handler", "LoggingConfig", "MemorySize", "Role", "Tags", "Timeout", "TracingConfig",
}  # fmt: skip
_ACCEPTED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "Layers": (
        "the public layer AWSLambdaPowertoolsPythonV3, which is installed here",
        lambda arns: all(_POWERTOOLS.fullmatch(arn) for arn in arns),
    ),
    "PackageType": ("Zip", lambda value: value == "Zip"),
    "Publish": ("false", lambda value: not value),
    "Runtime": ("python3.*", lambda value: str(value).startswith("python3.")),
}
_NOT_RUN_HERE = (
    "create_event_source_mapping", "invoke_async", "update_function_code",
    "update_function_configuration",
)  # fmt: skip


class Functions:
    """The functions behind moto's Lambda, until they are closed.

    The folder ``state`` has their unpacked code, one folder per asset. They call the cloud at
    ``endpoint``, print into ``logs``, and ``guard`` kills them if this process is killed.
    """

    def __init__(self, state: Path, endpoint: Endpoint, logs: CloudWatchLogs, guard: Guard) -> None:
        default_user_config["lambda"]["use_docker"] = False
        self._state, self._code = state, state / "functions"
        self._whole: set[Path] = set()
        self._environments = Environments(endpoint, logs, guard, state / "keys")
        self._unpacking = threading.Lock()
        self._events = EventQueue(self.invoke)
        self._replacements = Replacements()
        self._replace_methods()

    def invoke(self, function: Function, payload: bytes) -> Answer:
        """Run a function on one event, in a warm environment if one is free."""
        answer = self._environments.invoke(function, payload)
        _report_errors(function, answer)
        return answer

    def invoke_later(self, function: LambdaFunction, payload: bytes) -> None:
        """Run one of moto's functions on one event in the background, as Lambda does for events."""
        self._events.put(self._function_of(function), payload)

    def drain(self, seconds: float) -> None:
        """Wait at most ``seconds`` for the functions that run in the background."""
        self._events.drain(seconds)

    def close(self) -> None:
        """Kill every environment, and restore moto's own methods."""
        self._environments.close()
        self._events.close()
        self._replacements.restore()

    def _replace_methods(self) -> None:
        """Put these functions behind moto's Lambda API."""
        replacements = self._replacements

        def invoke(
            function: LambdaFunction, body: str, headers: Mapping[str, str], answer: dict[str, str]
        ) -> bytes:
            return self._invoke(function, body, headers, answer)

        def create(backend: LambdaBackend, spec: dict[str, Any]) -> LambdaFunction:
            refuse_unsupported(spec)
            # moto looks up layers, and lacks AWS's public layers.
            function: LambdaFunction = original_create(backend, {**spec, "Layers": []})
            _set_log_group(function, spec)
            return function

        def create_from_template(
            _: type[LambdaFunction],
            /,
            name: str,
            template: dict[str, Any],
            account: str,
            region: str,
            **more: str,
        ) -> LambdaFunction:
            # moto passes only some properties to create_function.
            refuse_unsupported({**template["Properties"], "FunctionName": name})
            function: LambdaFunction = original_create_from_template(
                name, template, account, region, **more
            )
            _set_log_group(function, template["Properties"])
            return function

        replacements.set(LambdaFunction, "invoke", invoke)
        # Without Docker moto chooses its simple back end, where a function echoes its event.
        replacements.set(LambdaSimpleBackend, "invoke", LambdaBackend.invoke)
        original_create = replacements.set(LambdaBackend, "create_function", create)
        original_create_from_template = replacements.set(
            LambdaFunction, "create_from_cloudformation_json", classmethod(create_from_template)
        )
        replacements.refuse(LambdaResponse, _NOT_RUN_HERE)

    def _invoke(
        self,
        function: LambdaFunction,
        body: str,
        headers: Mapping[str, str],
        answer_headers: dict[str, str],
    ) -> bytes:
        kind = _invocation_kind(headers)
        payload = _request_payload(body, kind)
        if kind == "Event":
            self.invoke_later(function, payload)
        if kind != "RequestResponse":
            return b""
        answer = self.invoke(self._function_of(function), payload)
        if answer.failed:
            answer_headers["x-amz-function-error"] = "Unhandled"
        tail = answer.log.encode()[-_TAIL_BYTES:]
        answer_headers["x-amz-log-result"] = base64.b64encode(tail).decode()
        answer_headers["X-Amz-Executed-Version"] = str(function.version)
        return answer.payload

    def _function_of(self, function: LambdaFunction) -> Function:
        return Function(
            name=function.function_name,
            arn=function.function_arn,
            version=str(function.version),
            handler=str(function.handler),
            memory_mb=int(function.memory_size),
            timeout_seconds=int(function.timeout),
            log_group=function.logs_group_name,
            code=self._unpack(function.code_bytes),
            role=str(function.role),
            variables=tuple(sorted(function.environment_vars.items())),
        )

    def _unpack(self, asset: bytes) -> Path:
        folder = self._code / hashlib.sha256(asset).hexdigest()
        with self._unpacking:
            if folder not in self._whole and not is_sealed(folder, self._state):
                self._code.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(dir=self._code) as unfinished:
                    whole = Path(unfinished) / "code"
                    zipfile.ZipFile(io.BytesIO(asset)).extractall(whole)
                    # The seal has the compiled files, too, and so nobody adds one later.
                    compileall.compile_dir(whole, quiet=2, stripdir=whole, prependdir=folder)
                    seal(whole)
                    whole.rename(folder)
            self._whole.add(folder)
            mark_used(folder)
        return folder


def refuse_unsupported(spec: Mapping[str, Any]) -> None:
    """Raise InvalidParameterValueException if this machine cannot honour a setting of a function.

    ``spec`` has the form of CreateFunction.
    """
    for name, value in spec.items():
        if name in _HONOURED or not value:
            continue
        accepted, accepts = _ACCEPTED.get(name, ("none", lambda _: False))
        if not accepts(value):
            _refuse(spec["FunctionName"], name, value, accepted)
    logging = spec.get("LoggingConfig", {})
    if logging.get("LogFormat", "Text") != "Text":
        _refuse(spec["FunctionName"], "LoggingConfig.LogFormat", logging["LogFormat"], "Text")


def _refuse(function: str, name: str, value: Any, accepted: str) -> NoReturn:  # noqa: ANN401
    raise InvalidParameterValueException(
        not_honoured(f"Function {function}", name, value, accepted)
    )


def _report_errors(function: Function, answer: Answer) -> None:
    """Put Lambda's metric Errors of an invocation: 1 if it failed, else 0."""
    datum = {
        "MetricName": "Errors",
        "Dimensions": [{"Name": "FunctionName", "Value": function.name}],
        "Value": int(answer.failed),
    }
    cloudwatch_backends[ACCOUNT][REGION].put_metric_data("AWS/Lambda", [datum])


def _set_log_group(function: LambdaFunction, spec: Mapping[str, Any]) -> None:
    group = spec.get("LoggingConfig", {}).get("LogGroup")
    if group:
        function.logs_group_name = group


def _request_payload(body: str, kind: str) -> bytes:
    payload = (body or "{}").encode()
    most = MOST_EVENT_BYTES if kind == "Event" else MOST_PAYLOAD_BYTES
    if len(payload) > most:
        error = LambdaClientError(
            "RequestTooLargeException",
            f"Request must be smaller than {most} bytes for the InvokeFunction "
            f"operation; it has {len(payload)}.",
        )
        error.code = 413
        raise error
    try:
        json.loads(payload)
    except ValueError as error:
        raise LambdaClientError(
            "InvalidRequestContentException", f"Could not parse request body into json: {error}"
        ) from error
    return payload


def _invocation_kind(headers: Mapping[str, str]) -> str:
    kind = headers.get("x-amz-invocation-type", "RequestResponse")
    if kind not in {"RequestResponse", "Event", "DryRun"}:
        raise InvalidParameterValueException(
            f"InvocationType {kind} is not supported on one machine; "
            "accepted: RequestResponse, Event, DryRun."
        )
    if headers.get("x-amz-client-context"):
        raise InvalidParameterValueException("ClientContext is not supported on one machine.")
    return kind
