"""Where the one-machine cloud answers, and how programs are told of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from local.account import REGION


@dataclass(frozen=True)
class Endpoint:
    """The address of one running cloud on this machine."""

    port: int

    @property
    def url(self) -> str:
        """The endpoint URL, by name: moto takes S3 buckets from the path of ``localhost`` only."""
        return f"http://localhost:{self.port}"

    def client(self, service: str, patience_seconds: float = 3600) -> Any:  # noqa: ANN401 (boto3 makes its clients at run time)
        """Return a boto3 client for this cloud, one per service, safe to share between threads."""
        return _client(self.url, service, patience_seconds)

    def environment(self) -> dict[str, str]:
        """Return the environment variables by which the AWS SDKs and CLI find this cloud."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
        }


# One session reads the SDK's data files once, but may not make two clients at a time.
_session: Any = boto3.Session()
_making = threading.Lock()


@cache
def _client(url: str, service: str, patience_seconds: float) -> Any:  # noqa: ANN401
    # One attempt: a retry would hide a fault of the local cloud behind a delay.
    config = Config(
        retries={"total_max_attempts": 1},
        max_pool_connections=64,
        read_timeout=patience_seconds,
    )
    with _making:
        return _session.client(
            service,
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key="local",  # noqa: S106 (not a secret: nothing checks it)
            config=config,
        )
