"""The botocore clients of a function, for its region."""

from __future__ import annotations

from functools import cache
from typing import Any

from botocore.session import Session


@cache
def _session() -> Session:
    # boto3 would also import s3transfer, which costs a cold start 100 ms and no function uses.
    return Session()


def client(service: str) -> Any:  # noqa: ANN401 (botocore makes its clients at run time)
    """Return a client of an AWS service."""
    return _session().create_client(service)
