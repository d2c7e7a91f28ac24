"""The level of users that a search asks for: an object in S3 that the trial writes anew."""

from __future__ import annotations

import json
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from harness import log
from harness.checks import CheckFailedError

# S3 refuses a missing key to a role that may not list it.
_MISSING = {"NoSuchKey", "AccessDenied"}


class Levels:
    """The object at an address such as ``s3://bucket/key``; ``client`` is botocore's."""

    def __init__(self, client: Any, address: str) -> None:  # noqa: ANN401 (made at run time)
        self._client = client
        self._address = address
        self._bucket, _, self._key = address.removeprefix("s3://").partition("/")
        self._is_there = False

    def read(self) -> dict[str, Any] | None:
        """Return the level; None before the first one.

        Raises
        ------
        CheckFailedError
            If the object cannot be read, or is no level.
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
                f"{self._address} is no level of users: JSON with a level was expected."
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
