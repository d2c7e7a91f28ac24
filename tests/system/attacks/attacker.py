"""The attacker's process: evaluates acts, and writes which broke through as JSON.

Its arguments are a JSON object of names, and the file of the acts.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

_PATIENCE_SECONDS = 5
_PTRACE_ATTACH = 16
_libc = ctypes.CDLL(None, use_errno=True)
FORGED = (
    "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/s3/aws4_request, "
    f"SignedHeaders=host, Signature={'0' * 64}"
)


class Held(Exception):
    """An act that was answered, and had no effect."""


def system(*command: str) -> None:
    """Run a command."""
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def traced(process: int) -> None:
    """Attach to a process as a debugger does."""
    if _libc.ptrace(_PTRACE_ATTACH, process, None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def asked(port: int, method: str, path: str, **headers: str) -> None:
    """Send a request, which breaks through if it is not refused."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_SECONDS)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        status = connection.getresponse().status
    finally:
        connection.close()
    if status >= 400:
        raise Held(status)


def garbage(port: int, content: bytes) -> None:
    """Send bytes that are not a request, which break through if they are answered as one."""
    with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE_SECONDS) as connection:
        connection.sendall(content)
        answer = connection.recv(64)
    if not answer.startswith(b"HTTP/1.1 200"):
        raise Held(answer)


def broke_through(expression: str, names: dict[str, object]) -> bool:
    """Tell whether an act has succeeded."""
    try:
        eval(expression, {**globals(), **names})
    except (OSError, Held, subprocess.SubprocessError):
        return False
    return True


def attack(names: dict[str, object], acts: list[list[str]]) -> list[list[str]]:
    """Return the acts that broke through."""
    found = []
    for kind, expression, target in acts:
        names["target"] = os.path.join(str(names["folder"]), target).rstrip("/")  # noqa: PTH118
        if broke_through(expression, names):
            found.append([kind, expression, target])
    return found


if __name__ == "__main__":
    signal.alarm(300)
    given, file, *programs = sys.argv[1:]
    broke = attack({**json.loads(given), "forged": FORGED}, json.loads(Path(file).read_text()))
    for program in programs:
        subprocess.Popen(json.loads(program))
    print(f"broke {json.dumps(broke)}", flush=True)
