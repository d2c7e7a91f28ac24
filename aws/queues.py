"""Queues of Amazon SQS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

_MESSAGES: Sequence[QueueAttributeNameType] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
)


class SqsQueues:
    """The queues of the account and region."""

    def __init__(self, client: SQSClient) -> None:
        self._client = client

    def left(self, name: str) -> int | None:
        """Return the messages of a queue that wait or are in work, about; None without a queue."""
        try:
            url = self._client.get_queue_url(QueueName=name)["QueueUrl"]
        except self._client.exceptions.QueueDoesNotExist:
            return None
        answer = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=_MESSAGES)
        return sum(int(answer["Attributes"][name]) for name in _MESSAGES)
