"""EventBridge on one machine: moto stores the rules, this module delivers the events.

Rules of the default bus send events to Lambda functions: the events of Step Functions, of
PutEvents and of a schedule ``rate(...)``. A schedule fires as soon as the stack exists and
then at its rate, while the cloud is up: few clouds stay up for the hour that AWS waits.

Sources: AWS documentation, "Amazon EventBridge event patterns", "EventBridge for Step Functions
execution status changes", "Setting a schedule pattern".
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any, NoReturn
from uuid import uuid4

from moto.awslambda.exceptions import UnknownFunctionException
from moto.awslambda.models import LambdaFunction
from moto.awslambda_simple.models import lambda_simple_backends
from moto.events.exceptions import ValidationException
from moto.events.models import EventPattern, EventsBackend, Rule, events_backends

from onebox.app import ACCOUNT, REGION
from onebox.cloud.functions import Functions
from onebox.cloud.replacements import Replacements, not_honoured, refuse_unknown
from onebox.cloud.schedules import rate_period, second

_FUNCTION = re.compile(r"arn:aws:lambda:[a-z0-9-]+:\d{12}:function:[A-Za-z0-9-_]+")
_PRINCIPAL = {"Service": "events.amazonaws.com"}
_DEFAULT_BUS = "default"
_STATES = {"ENABLED", "DISABLED"}
_STATUS_CHANGE = "Step Functions Execution Status Change"
# RetryPolicy has no effect: Lambda accepts every delivery at once here.
_TARGET = {"Arn", "Id", "Input", "RetryPolicy"}
_MATCHERS = {
    "anything-but", "cidr", "equals-ignore-case", "exists", "numeric", "prefix", "suffix",
    "wildcard",
}  # fmt: skip
_TICK_SECONDS = 1.0
_PATIENCE_SECONDS = 30.0

_log = logging.getLogger(__name__)


class Events:
    """moto's rules, which invoke the functions of one cloud until they are closed."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._due_times: dict[str, float] = {}
        self._closing = threading.Event()
        self._clock = threading.Thread(target=self._keep_schedules, name="events", daemon=True)
        self._replacements = Replacements()
        self._replace_methods()

    def start_schedules(self) -> None:
        """Make every schedule fire once now, and from then on at its rate."""
        self._clock.start()

    def execution_changed(self, execution: Mapping[str, Any]) -> None:
        """Emit the event of an execution's new status, from DescribeExecution's description."""
        detail = {
            "executionArn": execution["executionArn"],
            "stateMachineArn": execution["stateMachineArn"],
            "name": execution["name"],
            "status": execution["status"],
            "startDate": _milliseconds(execution["startDate"]),
            "stopDate": _milliseconds(execution.get("stopDate")),
            "input": execution["input"],
            "output": execution.get("output"),
            "inputDetails": execution["inputDetails"],
            "outputDetails": execution.get("outputDetails"),
            "error": execution.get("error"),
            "cause": execution.get("cause"),
        }
        event = _event("aws.states", _STATUS_CHANGE, execution["executionArn"], detail)
        for rule in _rules():
            self._match(rule, event)

    def close(self) -> None:
        """Deliver the emitted events, wait a while for the functions and restore moto's methods."""
        self._closing.set()
        if self._clock.is_alive():
            self._clock.join()
        self._functions.drain(_PATIENCE_SECONDS)
        self._replacements.restore()

    def _replace_methods(self) -> None:
        """Make moto's rules invoke these functions, and refuse settings without effect."""
        replacements = self._replacements

        def put_rule(backend: EventsBackend, name: str, **options: Any) -> Rule:  # noqa: ANN401
            _refuse_unsupported_rule(name, options)
            rule: Rule = original_put_rule(backend, name, **options)
            return rule

        def put_targets(
            backend: EventsBackend,
            name: str,
            event_bus_arn: str | None,
            targets: list[dict[str, Any]],
        ) -> None:
            for target in targets:
                _refuse_unsupported_target(name, target)
            original_put_targets(backend, name, event_bus_arn, targets)

        def send(rule: Rule, event: dict[str, Any], transform_input: bool = True) -> None:
            self._match(rule, _target_event(event))

        original_put_rule = replacements.set(EventsBackend, "put_rule", put_rule)
        original_put_targets = replacements.set(EventsBackend, "put_targets", put_targets)
        replacements.set(Rule, "send_to_targets", send)

    def _match(self, rule: Rule, event: Mapping[str, Any]) -> None:
        # In moto a rule without a pattern, such as a schedule's rule, matches everything.
        if rule.event_pattern.dump() and rule.event_pattern.matches_event(dict(event)):  # type: ignore[arg-type]
            self._fire(rule, event)

    def _fire(self, rule: Rule, event: Mapping[str, Any]) -> None:
        if rule.state != "ENABLED":
            return
        for target in list(rule.targets):
            function = _permitted(rule, target["Arn"])
            if function is not None:
                payload = target.get("Input") or json.dumps(event)
                self._functions.invoke_later(function, payload.encode())

    def _keep_schedules(self) -> None:
        while not self._closing.is_set():
            for rule in _rules():
                if rule.scheduled_expression and self._is_due(rule):
                    self._fire(rule, _event("aws.events", "Scheduled Event", rule.arn, {}))
            self._closing.wait(_TICK_SECONDS)

    def _is_due(self, rule: Rule) -> bool:
        now = time.monotonic()
        due = self._due_times.get(rule.arn, now)
        if now < due:
            return False
        period = rate_period(rule.scheduled_expression or "")
        assert period, "put_rule accepts no other expression"
        self._due_times[rule.arn] = due + period.total_seconds()
        return True


def _rules() -> list[Rule]:
    bus = events_backends[ACCOUNT][REGION].event_buses[_DEFAULT_BUS]
    return list(bus.rules.values())


def _permitted(rule: Rule, arn: str) -> LambdaFunction | None:
    """Return the function of a target; warn and return None if it is missing or not permitted."""
    try:
        function = lambda_simple_backends[ACCOUNT][REGION].get_function(arn)
    except UnknownFunctionException:
        _log.warning("Rule %s invokes nothing: there is no function %s.", rule.name, arn)
        return None
    if not any(_permits(statement, rule.arn) for statement in function.policy.statements):
        _log.warning(
            "Rule %s invokes nothing: no permission of %s names the rule.",
            rule.name,
            function.function_name,
        )
        return None
    return function


def _permits(statement: Mapping[str, Any], rule_arn: str) -> bool:
    source = statement.get("Condition", {}).get("ArnLike", {}).get("AWS:SourceArn", "*")
    return statement.get("Principal") == _PRINCIPAL and fnmatchcase(rule_arn, source)


def _event(source: str, kind: str, resource: str, detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return a new event about one resource, in the form of AWS's services."""
    return {
        "version": "0",
        "id": str(uuid4()),
        "detail-type": kind,
        "source": source,
        "account": ACCOUNT,
        "time": second(datetime.now(UTC)),
        "region": REGION,
        "resources": [resource],
        "detail": detail,
    }


def _target_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event of PutEvents in the form of targets; moto stores times as numbers."""
    content = {name: value for name, value in event.items() if name != "ingestion-time"}
    return {**content, "time": second(datetime.fromtimestamp(float(event["time"]), UTC))}


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)


def _refuse_unsupported_rule(name: str, options: Mapping[str, Any]) -> None:
    expression = options.get("scheduled_expression")
    if expression and not rate_period(expression):
        _refuse(name, "ScheduleExpression", expression, "rate(... minutes, hours or days)")
    if (bus := options.get("event_bus_arn")) and bus.rsplit("/", 1)[-1] != _DEFAULT_BUS:
        _refuse(name, "EventBusName", bus, _DEFAULT_BUS)
    if (state := options.get("state")) and state not in _STATES:
        _refuse(name, "State", state, ", ".join(sorted(_STATES)))
    if role := options.get("role_arn"):
        _refuse(name, "RoleArn", role, "none, since functions have permissions")
    for matcher in _matchers(EventPattern.load(options.get("event_pattern")).get_pattern()):
        # In moto an unknown matcher matches everything.
        if matcher not in _MATCHERS:
            _refuse(name, "EventPattern", matcher, ", ".join(sorted(_MATCHERS)))


def _matchers(pattern: Mapping[str, Any]) -> Iterable[str]:
    for name, value in pattern.items():
        if isinstance(value, dict):
            yield from _matchers(value)
        elif name == "$or":
            for alternative in value:
                yield from _matchers(alternative)
        elif isinstance(value, list):
            for accepted in value:
                yield from accepted if isinstance(accepted, dict) else ()


def _refuse_unsupported_target(rule: str, target: Mapping[str, Any]) -> None:
    refuse_unknown(f"A target of rule {rule}", target, _TARGET, ValidationException)
    if not _FUNCTION.fullmatch(target["Arn"]):
        _refuse(rule, "Arn", target["Arn"], "the ARN of a Lambda function")


def _refuse(rule: str, name: str, value: object, accepted: str) -> NoReturn:
    raise ValidationException(not_honoured(f"Rule {rule}", name, value, accepted))
