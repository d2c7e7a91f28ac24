"""A client of Kiwi TCMS's JSON-RPC, and the statements that its answers report."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from statistics import fmean
from time import perf_counter, sleep
from typing import Any, NamedTuple

USER = "tidemark"
"""The superuser of the server's data set, whose password is the same."""
_PATIENCE_SECONDS = 60
# A request beside Kiwi TCMS's own may do the work of a whole sequence.
_LONG_PATIENCE_SECONDS = 1_200
HEADER = "Server-Timing"
_FORM = re.compile(r"db;dur=(\d+\.\d+);desc=(\d+)")


class Refusal(Exception):
    """A call that the server refused; the message has the operation and the reason."""


class Statements(NamedTuple):
    """The statements of one request."""

    milliseconds: float
    """The time of all together."""
    count: int


class Answered(NamedTuple):
    """A call with an answer, and the time from the request to the whole answer."""

    operation: str
    seconds: float
    bytes: int
    """The size of the answer."""
    statements: Statements


_PIECE = 65_536


class Network(NamedTuple):
    """A slow network between the client and the server, beside the one that is there."""

    round_trip: float
    """The wait before each call [s]."""
    bytes_per_second: float
    """The most bytes of an answer that arrive in a second."""

    def read(self, read: Callable[[int], bytes], pause: Callable[[float], None]) -> bytes:
        """Return all that can be read, in pieces that arrive one after the other."""
        pieces = []
        while piece := read(_PIECE):
            pieces.append(piece)
            pause(len(piece) / self.bytes_per_second)
        return b"".join(pieces)


NETWORKS: Mapping[str, Network | None] = {
    "near": None,
    # From one continent to another, over a connection of 20 Mbit/s.
    "far": Network(round_trip=0.15, bytes_per_second=20e6 / 8),
}
"""The network of each value of the parameter ``network``."""


class Session:
    """A user who has logged in at a server, and makes one call after another.

    ``answered`` has the calls with an answer, in order; the first one is the log-in.
    """

    def __init__(
        self,
        host: str,
        port: int,
        network: Network | None = None,
        pause: Callable[[float], None] = sleep,
    ) -> None:
        self.answered: list[Answered] = []
        self._network, self._pause = network, pause
        self._connection = HTTPConnection(host, port, timeout=_PATIENCE_SECONDS)
        if network:
            self._connection.connect()
            # The server sends no more than the client takes, but for what their buffers hold.
            self._connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PIECE)
        self._headers = {"Content-Type": "application/json"}
        self._headers["Cookie"] = f"sessionid={self.call('Auth.login', USER, USER)}"

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def call(self, operation: str, *arguments: object) -> Any:  # noqa: ANN401 (as its method has it)
        """Return the answer of a method.

        Raises
        ------
        Refusal
            If the server answers with an error, or without a result or its statements.
        OSError, HTTPException
            If it does not answer.
        """
        call = {"jsonrpc": "2.0", "id": 1, "method": operation, "params": arguments}
        started = perf_counter()
        body, timing = self._body(self._connection, operation, "/json-rpc/", json.dumps(call))
        seconds = perf_counter() - started
        answer = _parsed(operation, body)
        if "error" in answer:
            raise Refusal(f"{operation} was refused: {answer['error']['message']}")
        if "result" not in answer:
            raise Refusal(f"{operation} was answered without a result")
        if (statements := statements_of(timing)) is None:
            raise Refusal(f"{operation} was answered with {timing!r} as {HEADER}")
        self.answered.append(Answered(operation, seconds, len(body), statements))
        return answer["result"]

    def post(self, path: str) -> Any:  # noqa: ANN401 (any JSON)
        """Return the answer of a request beside Kiwi TCMS's own; it has the faults of a call."""
        host, port = self._connection.host, self._connection.port
        with closing(HTTPConnection(host, port, timeout=_LONG_PATIENCE_SECONDS)) as connection:
            return _parsed(path, self._body(connection, path, path, "")[0])

    def _body(
        self, connection: HTTPConnection, name: str, path: str, content: str
    ) -> tuple[bytes, str]:
        """Return the body of an answer, and the header that has its statements."""
        try:
            if self._network:
                self._pause(self._network.round_trip)
            connection.request("POST", path, content, self._headers)
            response = connection.getresponse()
            read = response.read
            body = self._network.read(read, self._pause) if self._network else read()
        except (OSError, HTTPException):
            # http.client refuses every later request of a connection without an answer.
            connection.close()
            raise
        if response.status != HTTPStatus.OK:
            raise Refusal(f"{name} was answered with the status {response.status}")
        return body, response.getheader(HEADER, "")


def _parsed(name: str, body: bytes) -> Any:  # noqa: ANN401 (any JSON)
    try:
        return json.loads(body)
    except ValueError:
        raise Refusal(f"the answer to {name} is not JSON") from None


def statements_of(header: str) -> Statements | None:
    """Return the statements in a header, None if it has another form."""
    found = _FORM.fullmatch(header)
    return Statements(float(found[1]), int(found[2])) if found else None


def database_line(operation: str, requests: Sequence[Statements]) -> str:
    """Return the line of an operation: its requests, and the means of their statements."""
    milliseconds, counts = zip(*requests, strict=True)
    return (
        f"Database {operation} requests {len(requests)} time {fmean(milliseconds):.6f} ms "
        f"statements {fmean(counts):.6f}"
    )
