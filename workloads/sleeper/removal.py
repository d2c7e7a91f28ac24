"""The removal of the buckets, queues and tables that a trial made for itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

_MOST_ATTEMPTS = 5
_MISSING = {"AWS.SimpleQueueService.NonExistentQueue", "NoSuchBucket", "ResourceNotFoundException"}


def remove(made: Iterable[tuple[str, str]]) -> None:
    """Remove what has these kinds and names; what is missing was not made, or is removed.

    Raises
    ------
    BotoCoreError, ClientError
        The first error, after the removal of all else.
    """
    removals = {"Bucket": _remove_bucket, "Queue": _remove_queue, "Table": _remove_table}
    errors: list[BotoCoreError | ClientError] = []
    for kind, name in made:
        try:
            removals[kind](name)
        except BotoCoreError as error:
            errors.append(error)
        except ClientError as error:
            if error.response["Error"]["Code"] not in _MISSING:
                errors.append(error)
    if errors:
        raise errors[0]


def _remove_table(name: str) -> None:
    boto3.client("dynamodb").delete_table(TableName=name)


def _remove_queue(name: str) -> None:
    sqs = boto3.client("sqs")
    sqs.delete_queue(QueueUrl=sqs.get_queue_url(QueueName=name)["QueueUrl"])


def _remove_bucket(name: str) -> None:
    s3: Any = boto3.client("s3")
    for attempt in range(1, _MOST_ATTEMPTS + 1):
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=name):
            if keys := [{"Key": each["Key"]} for each in page.get("Contents", [])]:
                s3.delete_objects(Bucket=name, Delete={"Objects": keys})
        try:
            s3.delete_bucket(Bucket=name)
        except ClientError as error:
            # A writer that is being stopped, too, may store its last file meanwhile.
            if error.response["Error"]["Code"] != "BucketNotEmpty" or attempt == _MOST_ATTEMPTS:
                raise
        else:
            return
