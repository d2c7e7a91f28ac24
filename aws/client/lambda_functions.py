"""Functions of AWS Lambda, as a client invokes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tidemark.client.ports import FunctionFailed
from tidemark.model.refusal import Refused


class LambdaFunctions:
    """The functions of one account and region."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 (boto3 makes its clients at run time)
        self._lambda = client

    def invoke(self, name: str, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return a function's answer to an event.

        Raises
        ------
        Refused
            If the function refused the event; the message is the function's.
        FunctionFailed
            If the function failed.

        """
        answer = self._lambda.invoke(FunctionName=name, Payload=json.dumps(event))
        payload: dict[str, Any] = json.loads(answer["Payload"].read())
        if "FunctionError" in answer:
            if payload["errorType"] == "Refused":
                raise Refused(payload["errorMessage"])
            raise FunctionFailed(
                f"{name} failed: {payload['errorType']}: {payload['errorMessage']}"
            )
        return payload

    def send(self, name: str, event: Mapping[str, Any]) -> None:
        """Send a function an event without waiting for it."""
        self._lambda.invoke(FunctionName=name, InvocationType="Event", Payload=json.dumps(event))
