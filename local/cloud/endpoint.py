"""Where the one-machine cloud answers, and how programs are told of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import boto3
from botocore.config import Config
from botocore.session import Session

from local.account import REGION


@dataclass(frozen=True)
class Endpoint:
    """The address of one running cloud on this machine."""

    port: int

    @property
    def url(self) -> str:
        """The endpoint URL, by name: moto takes S3 buckets from the path of ``localhost`` only."""
        return f"http://localhost:{self.port}"

    def client(self, service: str, patience_seconds: float = 3600, role: str = "") -> Any:  # noqa: ANN401 (boto3 makes its clients at run time)
        """Return a boto3 client for this cloud, safe to share between threads.

        There is one for each service and caller: a role by its ARN, '' for whoever is outside.
        """
        return _client(self.url, service, patience_seconds, access_key_id(role))

    def environment(self, role: str = "") -> dict[str, str]:
        """Return the environment variables by which the AWS SDKs and CLI find this cloud.

        A program that runs in the cloud does so in the name of ``role``, an ARN.
        """
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": access_key_id(role),
            "AWS_SECRET_ACCESS_KEY": "local",
        }


def access_key_id(role: str) -> str:
    """Return the access key id of a role by its ARN: its name, so that a request tells its caller.

    Whoever has no role is outside the cloud.
    """
    return role.rsplit("/", 1)[-1] or "local"


# One session reads the SDK's data files once, but may not make two clients at a time.
# What the user's AWS profile says is of accounts, and not for this cloud.
_session: Any = boto3.Session(botocore_session=Session({"profile": (None, None, None, None)}))
_making = threading.Lock()


@cache
def _client(url: str, service: str, patience_seconds: float, key_id: str) -> Any:  # noqa: ANN401
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
            aws_access_key_id=key_id,
            aws_secret_access_key="local",  # noqa: S106 (not a secret: nothing checks it)
            config=config,
        )
