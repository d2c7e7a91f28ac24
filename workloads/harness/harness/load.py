"""The level of users that a search asks for, and times as lines of the log.

A level is an object in S3 that the trial writes anew.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from harness import log
from harness.task import CheckFailedError

# S3 refuses a missing key to a role that may not list it.
_MISSING = {"NoSuchKey", "AccessDenied"}


class Levels:
    """The object at an address such as ``s3://bucket/key``; ``client`` is botocore's."""

    def __init__(self, client: Any, address: str) -> None:  # noqa: ANN401 (made at run time)
        self._client = client
        self._address = address
        self._bucket, _, self._key = address.removeprefix("s3://").partition("/")
        self._is_there = False

    @classmethod
    def of_task(cls, variables: Mapping[str, str]) -> Levels:
        """Return the level of the search that a task with these variables belongs to."""
        return cls(Session().create_client("s3"), variables["TIDEMARK_LEVELS"])

    def read(self) -> dict[str, Any] | None:
        """Return the level; None before the first one.

        Raises
        ------
        CheckFailedError
            If the object cannot be read, or is not a level.
        """
        try:
            body = self._client.get_object(Bucket=self._bucket, Key=self._key)["Body"].read()
            level: dict[str, Any] = json.loads(body)
            int(level["level"])
        except ClientError as failure:
            if failure.response["Error"]["Code"] in _MISSING and not self._is_there:
                return None
            raise CheckFailedError(f"{self._address} cannot be read: {failure}") from None
        except BotoCoreError as failure:
            raise CheckFailedError(f"{self._address} cannot be read: {failure}") from None
        except (ValueError, TypeError, KeyError):
            raise CheckFailedError(
                f"{self._address} is not a level of users: JSON with a level was expected."
            ) from None
        self._is_there = True
        return level


def report(levels: Levels) -> None:
    """Log what each search found.

    Raises
    ------
    CheckFailedError
        If no search has found anything.
    """
    course = levels.read()
    if not course or not course.get("found"):
        raise CheckFailedError("No search has found the supported users.")
    for users in course["found"]:
        log.info("Unbounded", f"Supported users {users:g}")


class Histogram:
    """The times of one operation [ms], counted in buckets, as one line of the log.

    Quantiles of several agents do not add up to a quantile of all; their buckets do.
    """

    def __init__(self) -> None:
        self._buckets: Counter[str] = Counter()
        self._sum = 0.0

    def add(self, time: float) -> None:
        """Count a time [ms]."""
        self._buckets[_least(time)] += 1
        self._sum += time

    def line(self, operation: str) -> str:
        """Return the line of one time or more: their count, their average and their buckets."""
        count = self._buckets.total()
        buckets = " ".join(f"{least}:{n}" for least, n in self._buckets.items())
        average = self._sum / count
        return f"Histogram {operation} count {count} average {average:.6f} ms buckets {buckets}"


def _least(time: float) -> str:
    """Return the least time of a bucket: they are 0.1 ms wide to 10 ms, 1 ms to 1 s, then 10 ms."""
    if time < 10:
        return f"{math.floor(time * 10) / 10:.1f}"
    return str(math.floor(time) if time < 1_000 else math.floor(time / 10) * 10)
