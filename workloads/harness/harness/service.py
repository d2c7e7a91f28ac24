"""Run a service until it is stopped: ``python -m harness.service WORD ...``.

The words are the program and its arguments. It listens at ``TIDEMARK_ADDRESS``, which is 0.0.0.0
unless the cloud gives the task an address. A line of the log says when it is ready, which
``TIDEMARK_READY`` describes: ``:8080`` if it accepts connections at the port, ``:8080/health`` if
it also answers the path with an HTTP status below 400. With ``TIDEMARK_READY_LOG`` one of its lines
has that text before.

Exit codes: the program's own, 143 when stopped.
"""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import IO

from harness import log

ANYWHERE = "0.0.0.0"  # noqa: S104 (the security group of the task opens only the port)
_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = 5
_READY = re.compile(r":(?P<port>\d{1,5})(?P<path>/.*)?")


def answers(host: str, port: int, path: str | None) -> bool:
    """Tell whether a service accepts a connection, and answers the path, if any, without error."""
    try:
        if path is None:
            socket.create_connection((host, port), _PATIENCE_SECONDS).close()
            return True
        connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE_SECONDS)
        try:
            connection.request("GET", path)
            return connection.getresponse().status < http.HTTPStatus.BAD_REQUEST
        finally:
            connection.close()
    except (OSError, http.client.HTTPException):
        return False


def copy_lines(output: IO[bytes] | None, text: str, logged: threading.Event) -> None:
    """Print the output of a program, if it is read here; set ``logged`` at a line with the text."""
    if not text:
        logged.set()
    for line in output or ():
        sys.stdout.buffer.write(line)
        sys.stdout.flush()
        if text.encode() in line:
            logged.set()


def announce(address: str, sign: str, logged: threading.Event, over: threading.Event) -> None:
    """Log that a service is ready as soon as it is, unless its program is over before."""
    match = _READY.fullmatch(sign)
    assert match, sign
    host = "127.0.0.1" if address == ANYWHERE else address
    began = time.monotonic()
    while not (logged.is_set() and answers(host, int(match["port"]), match["path"])):
        if over.wait(_PAUSE_SECONDS):
            return
    log.info("Service", f"Ready: {sign} after {time.monotonic() - began:.3f} seconds")


def main(words: list[str], variables: Mapping[str, str]) -> int:
    """Run the program to its end; return its exit code."""
    address = variables.get("TIDEMARK_ADDRESS", ANYWHERE)
    text = variables.get("TIDEMARK_READY_LOG", "")
    read = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if text else {}
    process = subprocess.Popen(words, env={**variables, "TIDEMARK_ADDRESS": address}, **read)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    logged, over = threading.Event(), threading.Event()
    copying = _begun(copy_lines, process.stdout, text, logged)
    announcing = _begun(announce, address, variables["TIDEMARK_READY"], logged, over)
    try:
        code = process.wait()
        return code if code >= 0 else 128 - code
    finally:
        over.set()
        # Python aborts if a thread prints as it ends. A process that outlives the program may hold
        # its output open.
        for thread in (copying, announcing):
            thread.join(_PATIENCE_SECONDS)


def _begun(function: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
