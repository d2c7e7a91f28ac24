"""The instance of Sleeper that a test works with: it is there while this program runs.

Its configuration is in a bucket of its own, which the steps of a test find by a note in the trial's
data. However the program ends but by SIGKILL, it removes all that the instance was made of, also
after a deployment that failed.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from harness import log
from harness.task import CheckFailedError
from relay import Relay
from upstream import DEPLOY, has_rust, instance_id, run

_PORT = 8080  # the suite waits for it
_MOST_ATTEMPTS = 5
_MISSING = {"AWS.SimpleQueueService.NonExistentQueue", "NoSuchBucket", "ResourceNotFoundException"}


def main() -> int:
    """Deploy the instance, and keep it until this program is stopped; return the exit code."""
    signal.signal(signal.SIGTERM, _stop)
    relay = Relay()
    try:
        with relay:
            run(relay, DEPLOY, instance_id())
        configure([name for kind, name in relay.made if kind == "Bucket"])
        with socket.create_server((os.environ["TIDEMARK_ADDRESS"], _PORT)):
            signal.pause()
    except CheckFailedError as failure:
        log.error("Instance", str(failure))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _remove(relay.made)
    return 1


def _remove(made: Sequence[tuple[str, str]]) -> None:
    try:
        remove(made)
    except (BotoCoreError, ClientError) as error:
        log.error("Instance", f"Not all of it could be removed: {error}")
    else:
        log.info("Instance", f"Removed {len(made)} buckets, queues and tables")


def _stop(number: int, _frame: object) -> None:
    # The signal comes twice, from the cloud and from the harness.
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def configure(buckets: list[str]) -> None:
    """Choose the engine and the files of a compaction job, and note the bucket's name.

    ``buckets`` are the instance's. A job has a file of each writer.

    Raises
    ------
    CheckFailedError
        If the jars do not have the engine.
    """
    engine = os.environ["TIDEMARK_ENGINE"]
    if engine == "datafusion" and not has_rust():
        raise CheckFailedError(
            "The jars lack the part in Rust, which the engine DataFusion needs: "
            "build them with Rust installed and -DskipRust=false."
        )
    chosen = {
        "data.engine": engine.upper(),
        "compaction.files.batch.size": os.environ["TIDEMARK_TASKS"],
    }
    lines = "".join(f"\nsleeper.table.{name}={value}" for name, value in chosen.items())
    s3: Any = boto3.client("s3")
    (config,) = (
        name for name in buckets if name.startswith(f"{os.environ['TIDEMARK_OWN']}-config")
    )
    for table in s3.list_objects_v2(Bucket=config, Prefix="tables/")["Contents"]:
        place = {"Bucket": config, "Key": table["Key"]}
        properties = s3.get_object(**place)["Body"].read()
        s3.put_object(**place, Body=properties + lines.encode() + b"\n")
    s3.put_object(**_note(), Body=config.encode())


def config_bucket() -> str:
    """Return the name of the bucket, which older versions do not end with the account."""
    s3: Any = boto3.client("s3")
    return str(s3.get_object(**_note())["Body"].read().decode())


def _note() -> dict[str, str]:
    """Return the place of the name in the trial's data."""
    bucket, _, place = os.environ["TIDEMARK_DATA"].removeprefix("s3://").partition("/")
    return {"Bucket": bucket, "Key": f"{place}/config-bucket"}


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


if __name__ == "__main__":
    sys.exit(main())
