"""EventBridge Scheduler on one machine: moto stores the schedules, this module runs them.

A due schedule starts an execution of a state machine; the scheduler has its own clock. A failed
delivery is tried again, and then kept in a dead-letter queue.

Source: Amazon EventBridge Scheduler API reference, CreateSchedule.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn
from uuid import uuid4
from zoneinfo import ZoneInfo

from botocore.exceptions import BotoCoreError, ClientError
from moto.scheduler.exceptions import ValidationException
from moto.scheduler.models import EventBridgeSchedulerBackend, Schedule, scheduler_backends

from onebox.app import ACCOUNT, REGION, DueTimes, ReadCron
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.replacements import Replacements, not_honoured, refuse_unknown

_RATE = re.compile(r"rate\(([1-9]\d{0,4}) (minute|hour|day)s?\)")
_AT = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)")
_CRON = re.compile(r"cron\((.*)\)")


@dataclass(frozen=True)
class _Rate:
    start: datetime
    period: timedelta

    def next_after(self, moment: datetime) -> datetime:
        return self.start + self.period * ((moment - self.start) // self.period + 1)


@dataclass(frozen=True)
class _Once:
    due: datetime

    def next_after(self, moment: datetime) -> datetime | None:
        return self.due if self.due > moment else None


def rate_period(expression: str) -> timedelta | None:
    """Return the period of an expression ``rate(…)``; None if it has another form."""
    rate = _RATE.fullmatch(expression)
    return timedelta(**{f"{rate[2]}s": int(rate[1])}) if rate else None


def due_times(expression: str, zone: str, created_at: datetime, read_cron: ReadCron) -> DueTimes:
    """Return the due times of an expression: ``rate(…)``, ``at(…)`` or ``cron(…)``.

    A rate is first due when the schedule is created.

    Raises
    ------
    ValueError
        If the expression has another form, or the time zone does not exist.

    """
    clocks = _time_zone(zone)
    if period := rate_period(expression):
        return _Rate(created_at, period)
    if at := _AT.fullmatch(expression):
        with suppress(ValueError):  # not a calendar date
            due = datetime.fromisoformat(at[1]).replace(tzinfo=clocks)
            return _Once(due.astimezone(UTC))
    if cron := _CRON.fullmatch(expression):
        return read_cron(cron[1], zone)
    raise ValueError(
        f"{expression!r} is not a schedule expression; accepted: such as rate(7 days), "
        "at(2026-11-22T02:00:00) or cron(0 2 ? * SUN *)"
    )


def _time_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise ValueError(f"{name!r} is not a time zone such as Etc/UTC or Europe/London") from None


_MOST_RETRIES, _OLDEST_SECONDS = 185, 86_400
_FIRST_PAUSE = timedelta(minutes=1)


@dataclass(frozen=True)
class Delivery:
    """One attempt at a due delivery."""

    schedule: Schedule
    due: datetime
    at: datetime
    """Time of the attempt."""
    attempt: int = 1

    @property
    def target(self) -> dict[str, Any]:
        """The schedule's target: the service to call and the role to call it in."""
        target: dict[str, Any] = self.schedule.target
        return target

    def input(self) -> str:
        """Return the target's input with the context attributes of this attempt."""
        attributes = {
            "schedule-arn": self.schedule.arn,
            "scheduled-time": second(self.due),
            "execution-id": str(uuid4()),
            "attempt-number": str(self.attempt),
        }
        text: str = self.target["Input"]
        for name, value in attributes.items():
            text = text.replace(f"<aws.scheduler.{name}>", value)
        return text

    def next_attempt(self) -> Delivery | str:
        """Return the next attempt, or the limit of the retry policy that forbids it."""
        policy = self.target.get("RetryPolicy", {})
        if self.attempt > int(policy.get("MaximumRetryAttempts", _MOST_RETRIES)):
            return "MaximumRetryAttempts"
        at = self.at + _FIRST_PAUSE * 2 ** (self.attempt - 1)
        oldest = int(policy.get("MaximumEventAgeInSeconds", _OLDEST_SECONDS))
        if at - self.due > timedelta(seconds=oldest):
            return "MaximumEventAgeInSeconds"
        return replace(self, at=at, attempt=self.attempt + 1)

    def dead_letter(
        self, input_text: str, error: BotoCoreError | ClientError, limit: str
    ) -> dict[str, Any]:
        """Return the dead letter of a failed delivery, in the form that SendMessage takes."""
        code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
        attributes = {
            "ERROR_CODE": code or type(error).__name__,
            "ERROR_MESSAGE": str(error),
            "EXECUTION_ID": str(uuid4()),
            "EXHAUSTED_RETRY_CONDITION": limit,
            "IS_PAYLOAD_TRUNCATED": "false",
            "RETRY_ATTEMPTS": str(self.attempt - 1),
            "SCHEDULED_TIME": second(self.due),
            "SCHEDULE_ARN": self.schedule.arn,
            "TARGET_ARN": self.target["Arn"],
        }
        return {
            "MessageBody": json.dumps({"StateMachineArn": self.target["Arn"], "Input": input_text}),
            "MessageAttributes": {
                name: {"DataType": "String", "StringValue": value}
                for name, value in attributes.items()
            },
        }


def second(moment: datetime) -> str:
    """Return a moment in UTC as EventBridge writes it: ``2026-11-22T02:00:00Z``."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


Clock = Callable[[], datetime]

_MACHINE = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:"
_QUEUE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:"
_TARGET = {"Arn", "DeadLetterConfig", "Input", "RetryPolicy", "RoleArn"}
_REFUSED = {
    "action_after_completion": "ActionAfterCompletion",
    "end_date": "EndDate",
    "kms_key_arn": "KmsKeyArn",
    "start_date": "StartDate",
}
_TICK_SECONDS = 1.0
_SECOND = timedelta(seconds=1)

_log = logging.getLogger(__name__)


class Scheduler:
    """moto's schedules, which run until they are closed; ``now`` returns the time."""

    def __init__(self, endpoint: Endpoint, read_cron: ReadCron, now: Clock) -> None:
        self._endpoint = endpoint
        self._read_cron = read_cron
        self._now = now
        self._times: dict[str, DueTimes] = {}
        self._next_due: dict[str, datetime | None] = {}
        self._retries: list[Delivery] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._keep_time, name="scheduler", daemon=True)
        self._replacements = Replacements()
        self._replace_methods()

    def start(self) -> None:
        """Deliver due schedules from now on."""
        self._thread.start()

    def catch_up(self) -> None:
        """Attempt all deliveries that are due by now, in the order of their times."""
        with self._lock:
            now = self._now()
            while delivery := min(self._due_by(now), key=lambda due: due.at, default=None):
                self._dequeue(delivery)
                self._deliver(delivery)

    def close(self) -> None:
        """Stop all deliveries, and restore moto's own methods."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()
        self._replacements.restore()

    def _replace_methods(self) -> None:
        """Plan every schedule that moto stores, and refuse settings without effect."""

        def create(backend: EventBridgeSchedulerBackend, **options: Any) -> Schedule:  # noqa: ANN401
            self._refuse_unsupported(options)
            with self._lock:
                schedule: Schedule = original_create(backend, **options)
                now = self._now().replace(microsecond=0)
                schedule.creation_date = now.timestamp()
                return self._plan(schedule, now - _SECOND)

        def update(backend: EventBridgeSchedulerBackend, **options: Any) -> Schedule:  # noqa: ANN401
            self._refuse_unsupported(options)
            with self._lock:
                return self._plan(original_update(backend, **options), self._now())

        replacements = self._replacements
        original_create = replacements.set(EventBridgeSchedulerBackend, "create_schedule", create)
        original_update = replacements.set(EventBridgeSchedulerBackend, "update_schedule", update)

    def _plan(self, schedule: Schedule, since: datetime) -> Schedule:
        """Plan a changed schedule; its first due time is after ``since``."""
        schedule.last_modified_date = self._now().timestamp()
        schedule.state = schedule.state or "ENABLED"  # moto drops it in an update
        self._times[schedule.arn] = due_times(
            schedule.schedule_expression,
            schedule.schedule_expression_timezone,
            datetime.fromtimestamp(schedule.creation_date, UTC),
            self._read_cron,
        )
        self._next_due[schedule.arn] = self._times[schedule.arn].next_after(since)
        return schedule

    def _refuse_unsupported(self, options: Mapping[str, Any]) -> None:
        _refuse_unsupported(options)
        zone = options["schedule_expression_timezone"] or "UTC"
        try:
            due_times(options["schedule_expression"], zone, self._now(), self._read_cron)
        except ValueError as refused:
            raise ValidationException(f"Schedule {options['name']}: {refused}.") from None

    def _keep_time(self) -> None:
        while not self._closing.wait(_TICK_SECONDS):
            self.catch_up()

    def _due_by(self, now: datetime) -> Iterator[Delivery]:
        yield from (delivery for delivery in self._retries if delivery.at <= now)
        for schedule in _schedules():
            due = self._next_due[schedule.arn]
            if schedule.state == "ENABLED" and due and due <= now:
                yield Delivery(schedule, due, at=due)

    def _dequeue(self, delivery: Delivery) -> None:
        if delivery in self._retries:
            self._retries.remove(delivery)
        else:
            arn = delivery.schedule.arn
            self._next_due[arn] = self._times[arn].next_after(delivery.due)

    def _deliver(self, delivery: Delivery) -> None:
        payload = delivery.input()
        try:
            self._client("stepfunctions", delivery).start_execution(
                stateMachineArn=delivery.target["Arn"], input=payload
            )
        except (BotoCoreError, ClientError) as error:
            retry = delivery.next_attempt()
            if isinstance(retry, Delivery):
                self._retries.append(retry)
            else:
                _log.warning("Schedule %s was not delivered: %s", delivery.schedule.name, error)
                self._keep_dead_letter(delivery, delivery.dead_letter(payload, error, retry))

    def _keep_dead_letter(self, delivery: Delivery, letter: Mapping[str, Any]) -> None:
        queue = delivery.target.get("DeadLetterConfig", {}).get("Arn")
        if not queue:
            return
        # Scheduler knows the queue by its ARN: the role needs no permission to ask for its URL.
        find = self._endpoint.client("sqs").get_queue_url
        try:
            url = find(QueueName=queue.removeprefix(_QUEUE))["QueueUrl"]
            self._client("sqs", delivery).send_message(QueueUrl=url, **letter)
        except (BotoCoreError, ClientError) as error:
            _log.warning(
                "The dead letter of schedule %s was not kept: %s", delivery.schedule.name, error
            )

    def _client(self, service: str, delivery: Delivery) -> Any:  # noqa: ANN401 (as boto3's)
        return self._endpoint.client(service, role=delivery.target["RoleArn"])


def _schedules() -> list[Schedule]:
    groups = scheduler_backends[ACCOUNT][REGION].schedule_groups
    return [schedule for group in [*groups.values()] for schedule in [*group.schedules.values()]]


def _refuse_unsupported(options: Mapping[str, Any]) -> None:
    name, target = options["name"], options["target"]
    for key, field in _REFUSED.items():
        if value := options.get(key):
            _refuse(name, field, value, "none")
    if (mode := options["flexible_time_window"].get("Mode")) != "OFF":
        _refuse(name, "FlexibleTimeWindow", mode, "OFF")
    refuse_unknown(f"The target of schedule {name}", target, _TARGET, ValidationException)
    if not target["Arn"].startswith(_MACHINE):
        _refuse(name, "Arn", target["Arn"], "the ARN of a state machine")
    if "Input" not in target:
        _refuse(name, "Input", None, "the input of the execution")
    if (queue := target.get("DeadLetterConfig")) and not queue["Arn"].startswith(_QUEUE):
        _refuse(name, "DeadLetterConfig", queue, "the ARN of a queue")


def _refuse(schedule: str, name: str, value: object, accepted: str) -> NoReturn:
    raise ValidationException(not_honoured(f"Schedule {schedule}", name, value, accepted))
