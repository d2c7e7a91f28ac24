"""The end of the unbounded test: a line of the log for the users that each search found."""

from __future__ import annotations

from collections.abc import Mapping

from botocore.session import Session
from harness import log
from harness.checks import CheckFailedError
from levels import Levels


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


def run(_host: str, _port: int, variables: Mapping[str, str]) -> None:
    """Log what each search of the test found."""
    report(Levels(Session().create_client("s3"), variables["TIDEMARK_LEVELS"]))
