"""The end of the unbounded test: a line of the log for the users that each search found."""

from __future__ import annotations

from collections.abc import Mapping

from botocore.session import Session
from harness.load import Levels, report


def run(_host: str, _port: int, variables: Mapping[str, str]) -> None:
    """Log what each search of the test found."""
    report(Levels(Session().create_client("s3"), variables["TIDEMARK_LEVELS"]))
