"""Deliveries of EventBridge Scheduler: the input of a target, retries and dead letters.

Sources: Amazon EventBridge Scheduler user guide, "Adding context attributes", "Configuring a
schedule's dead-letter queue"; API reference, RetryPolicy. The pause before a retry is not
documented.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError
from moto.scheduler.models import Schedule

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
            "scheduled-time": _second(self.due),
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
            "SCHEDULED_TIME": _second(self.due),
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


def _second(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
