"""A new cloud for each test, from moto's server on a free port; the test must leave nothing."""

from __future__ import annotations

import http.client
import os
import select
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.client import BaseClient
from botocore.credentials import Credentials
from moto.moto_api._internal.models import moto_api_backend

from onebox.cloud import stacks
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.logs import CloudWatchLogs
from onebox.cloud.processes import Guard
from onebox.cloud.server import Server
from onebox.logs.store import LogStore

SECONDS = 10


def children() -> set[str]:
    """Return the ids of this process's children, zombies included."""
    ids: set[str] = set()
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(FileNotFoundError):  # a thread of moto has just ended
            ids |= set(path.read_text().split())
    return ids


@pytest.fixture
def has_ended():
    """Return a way to wait for the end of any process; it returns False after the timeout."""

    def has_ended(pid, seconds=SECONDS):
        try:
            descriptor = os.pidfd_open(int(pid))
        except ProcessLookupError:
            return True
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        try:
            return bool(poll.poll(seconds * 1000))
        finally:
            os.close(descriptor)

    return has_ended


@pytest.fixture(scope="session")
def server() -> Iterator[Endpoint]:
    with Server(0) as server:
        yield server.endpoint


@pytest.fixture
def endpoint(server: Endpoint) -> Iterator[Endpoint]:
    threads, processes = set(threading.enumerate()), children()
    yield server
    moto_api_backend.reset()
    for thread in set(threading.enumerate()) - threads:
        thread.join(SECONDS)  # moto's threads end once they have answered
        assert not thread.is_alive(), f"{thread} was left behind"
    assert children() <= processes


@pytest.fixture
def answer(endpoint):
    """Return a way to send a request that no client would send, signed with the key of a role."""

    def answer(role, method, uri, place="us-east-1/s3", body=b"", **headers):
        headers = {name.replace("_", "-"): text for name, text in headers.items()}
        region, service = place.split("/")
        # A server reads the path of mine:/a as /a.
        url = endpoint.url + urlsplit(uri)._replace(scheme="").geturl()
        signed = AWSRequest(method, url, headers=headers, data=body)
        sign = S3SigV4Auth if service == "s3" else SigV4Auth
        key = Credentials(*endpoint.access_key(role).values())
        sign(key, service, region).add_auth(signed)
        connection = http.client.HTTPConnection("127.0.0.1", endpoint.port)
        connection.request(method, uri, body, dict(signed.headers))
        received = connection.getresponse()
        text = received.read()
        connection.close()
        return received.status, text

    return answer


@pytest.fixture
def store(tmp_path: Path) -> LogStore:
    return LogStore(tmp_path / "logs")


@pytest.fixture
def logs(store: LogStore, endpoint: Endpoint) -> Iterator[CloudWatchLogs]:
    logs = CloudWatchLogs(store, endpoint)
    yield logs
    logs.close()


@pytest.fixture
def formation(endpoint: Endpoint) -> Iterator[BaseClient]:
    replacements = stacks.install()
    yield endpoint.client("cloudformation")
    replacements.restore()


@pytest.fixture
def guard(endpoint: Endpoint) -> Iterator[Guard]:
    with Guard() as guard:
        yield guard
