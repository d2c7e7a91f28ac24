"""A relay to the cloud that signs each request again, with the key of this task.

If ``AWS_ENDPOINT_URL`` is set, Sleeper signs with a fixed key, as its own tests need it; the cloud
accepts the key of the task's role alone. Every user of the machine and pages in a browser reach the
port of the relay. It answers programs of this user alone, under its own address; a secret in its
path would be lost, since the SDK's client for STS leaves out the path of an endpoint.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sys
import threading
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

_SIGNED = re.compile(
    r"Credential=[^/,]+/\d{8}/[^/,]+/(?P<service>[^/,]+)/aws4_request, ?"
    r"SignedHeaders=(?P<headers>[^,]+),"
)
# The headers of one connection, and the headers of the signature.
_NOT_PASSED_ON = {"authorization", "connection", "expect", "host", "transfer-encoding"}
_SHUTDOWN_POLL_SECONDS = 0.05
_MADE_BY = {"DynamoDB_20120810.CreateTable": "TableName", "AmazonSQS.CreateQueue": "QueueName"}


class Relay:
    """A relay in threads of this process; a context that serves while it is open.

    Attributes
    ----------
    cloud, host : str
        The host and port of the cloud, and of the relay.
    made : list[tuple[str, str]]
        The kind and name of each bucket, queue and table that requests were to make.
    """

    def __init__(self) -> None:
        self.cloud = urlsplit(os.environ["AWS_ENDPOINT_URL"]).netloc
        self.made: list[tuple[str, str]] = []
        address = (os.environ["TIDEMARK_ADDRESS"], 0)
        self._server = _Server(address, partial(_Handler, self))
        self.host = "{}:{}".format(*self._server.server_address)

    @property
    def url(self) -> str:
        """The address for ``AWS_ENDPOINT_URL``."""
        return f"http://{self.host}"

    def note(self, kind: str, name: str) -> None:
        """Note what a request makes, once though the request is repeated."""
        if (kind, name) not in self.made:
            self.made.append((kind, name))

    def __enter__(self) -> Relay:
        """Start to serve."""
        serve = partial(self._server.serve_forever, _SHUTDOWN_POLL_SECONDS)
        threading.Thread(target=serve, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Answer the requests under way, and stop."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    # Its closing waits for the requests under way, and for what they make.
    daemon_threads = False

    def verify_request(self, _: object, client_address: tuple[str, int]) -> bool:
        """Tell whether a program of this user is at the other end (Linux manual, proc_net(5))."""
        ends = [_in_proc(*client_address), _in_proc(*self.server_address)]
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                _, here, there, *_, user = line.split()[:8]
                # An address of IPv6 that stands for one of IPv4 ends with it.
                if [here[-len(ends[0]) :], there[-len(ends[1]) :]] == ends:
                    return int(user) == os.getuid()
        return False


def _in_proc(host: str, port: int) -> str:
    return f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # [s] without a byte of a request

    def __init__(self, relay: Relay, *arguments: object) -> None:
        self._relay = relay
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Pass a request of any method on."""
        if self.headers.get("Host") != self._relay.host:
            self.close_connection = True
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._note(body)
        connection = HTTPConnection(self._relay.cloud)
        try:
            connection.request(self.command, self.path, body, self._signed_again(body))
            self._answer(connection)
        finally:
            connection.close()

    do_DELETE = do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815 (the names of the methods)

    def log_message(self, *_: object) -> None:
        """Print nothing: the log is Sleeper's."""

    def _note(self, body: bytes) -> None:
        """Note what a request makes, though its answer may be lost."""
        operation = self.headers.get("X-Amz-Target", "")
        if operation in _MADE_BY:
            kind = operation.rpartition("Create")[2]
            self._relay.note(kind, json.loads(body)[_MADE_BY[operation]])
        elif self.command == "PUT" and re.fullmatch(r"/[^/?]+/?", self.path):
            self._relay.note("Bucket", self.path.strip("/"))

    def _signed_again(self, body: bytes) -> dict[str, str]:
        """Return the headers of the request to the cloud."""
        passed = {
            name: text for name, text in self.headers.items() if name.lower() not in _NOT_PASSED_ON
        }
        passed["Host"] = self._relay.cloud
        signed = _SIGNED.search(self.headers.get("Authorization", ""))
        if signed is None:
            return passed  # the cloud refuses it
        key = Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
        kind = S3SigV4Auth if signed["service"] == "s3" else SigV4Auth
        # Hadoop's client signs for another region than the cloud's.
        auth = kind(key, signed["service"], os.environ["AWS_REGION"])
        names = signed["headers"].split(";")
        request = AWSRequest(
            self.command,
            f"http://{self._relay.cloud}{self.path}",
            data=body,
            headers={name: text for name, text in passed.items() if name.lower() in names},
        )
        request.context["timestamp"] = self.headers["X-Amz-Date"]
        text = auth.string_to_sign(request, auth.canonical_request(request))
        return {
            **passed,
            "Authorization": (
                f"AWS4-HMAC-SHA256 Credential={auth.scope(request)}, "
                f"SignedHeaders={auth.signed_headers(auth.headers_to_sign(request))}, "
                f"Signature={auth.signature(text, request)}"
            ),
        }

    def _answer(self, connection: HTTPConnection) -> None:
        """Pass the answer of the cloud on."""
        answer = connection.getresponse()
        self.send_response_only(answer.status)
        for name, text in answer.getheaders():
            if name.lower() not in _NOT_PASSED_ON:
                self.send_header(name, text)
        # The closing of the relay would wait for a client that keeps its connection.
        self.send_header("Connection", "close")
        self.close_connection = True
        self.end_headers()
        shutil.copyfileobj(answer, self.wfile)
