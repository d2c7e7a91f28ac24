"""The address of the one-machine cloud, and the environment variables that name it."""

from __future__ import annotations

import hmac
import threading
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from botocore.session import Session

from onebox.app import REGION


def access_key_id(role: str) -> str:
    """Return the access key id of a role: the name in its ARN, so that a request names its caller.

    A caller outside the cloud has no role and the id ``local``.
    """
    return role.rsplit("/", 1)[-1] or "local"


def secret_access_key(key: str, key_id: str) -> str:
    """Return the secret that belongs to an access key id in the cloud of ``key``."""
    return hmac.new(key.encode(), key_id.encode(), "sha256").hexdigest()


GONE = (BotoCoreError, ClientError, ResponseParserError)
"""The errors of a client whose cloud is gone, or whose port another program has."""


@dataclass(frozen=True)
class Endpoint:
    """The address of one running cloud on this machine, and its key."""

    port: int
    key: str = field(repr=False)

    @property
    def url(self) -> str:
        """The endpoint URL, by number: another user may listen where a name leads, at ``::1``."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, service: str, patience_seconds: float = 3600, role: str = "") -> Any:  # noqa: ANN401 (boto3 makes its clients at run time)
        """Return a boto3 client for this cloud, safe to share between threads.

        Each service and caller has one client. ``role`` is the caller's ARN, '' outside the cloud.
        """
        return _client(self.url, service, patience_seconds, *self._access_key(role))

    @property
    def place(self) -> dict[str, str]:
        """The environment variables that lead the AWS SDKs and CLI to this cloud."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
        }

    def environment(self, role: str = "") -> dict[str, str]:
        """Return the environment variables with which the AWS SDKs and CLI work in this cloud.

        ``role`` is the ARN of the role of a program in the cloud.
        """
        return {**self.place, **self.access_key(role)}

    def access_key(self, role: str) -> dict[str, str]:
        """Return the access key of a role's ARN, by the names of its environment variables."""
        key_id, secret = self._access_key(role)
        return {"AWS_ACCESS_KEY_ID": key_id, "AWS_SECRET_ACCESS_KEY": secret}

    def _access_key(self, role: str) -> tuple[str, str]:
        key_id = access_key_id(role)
        return key_id, secret_access_key(self.key, key_id)


# One session reads the SDK's data files once, but must not make two clients at the same time.
# It ignores the user's AWS profile, which is about real accounts.
_session: Any = boto3.Session(botocore_session=Session({"profile": (None, None, None, None)}))
_session_lock = threading.Lock()


@cache
def _client(url: str, service: str, patience_seconds: float, key_id: str, secret: str) -> Any:  # noqa: ANN401
    # One attempt: a retry would hide a fault of the local cloud behind a delay.
    config = Config(
        retries={"total_max_attempts": 1},
        max_pool_connections=64,
        read_timeout=patience_seconds,
    )
    with _session_lock:
        return _session.client(
            service,
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id=key_id,
            aws_secret_access_key=secret,
            config=config,
        )
