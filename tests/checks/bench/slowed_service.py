"""A stand-in for Kiwi TCMS at port 8080, with a known time of each method.

Version 0.1.0 takes a fifth longer for one method; all other versions are the same. Each request has
a thread of its own, so that requests do not wait for each other.
"""

from __future__ import annotations

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

SLOWED = "TestRun.filter"
SLOWER = "0.1.0"
_SECONDS, _LOSS = 0.05, 0.2
_numbers = count(1)


class Service(BaseHTTPRequestHandler):
    """Answer what the load needs: ids of new things, and one thing for each filter."""

    protocol_version = "HTTP/1.1"
    # Else the answer's body waits for the acknowledgement of its headers.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Tell that the service is ready."""
        self._send(b"ready")

    def do_POST(self) -> None:
        """Answer a method after its time."""
        began = time.monotonic()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        method = json.loads(body)["method"]
        is_slowed = method == SLOWED and os.environ["TIDEMARK_VERSION"] == SLOWER
        seconds = _SECONDS * (1 + _LOSS * is_slowed)
        time.sleep(max(0.0, began + seconds - time.monotonic()))
        found = {"id": next(_numbers)}
        answers = {"Auth.login": "session", "TestRun.add_case": [found]}
        result = answers.get(method, [found] if method.endswith(".filter") else found)
        self._send(json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode())

    def log_message(self, *_: object) -> None:
        """Log no request: the figures come from the load."""

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Server-Timing", "db;dur=0.000;desc=0")
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """Take the connections of all users at once."""

    request_queue_size = 256
    daemon_threads = True


def main() -> None:
    """Serve until stopped."""
    # The benchmark imports this module, too, and has no harness.
    from harness.machine import keep_apart, log_version  # noqa: PLC0415

    version, address = os.environ["TIDEMARK_VERSION"], os.environ["TIDEMARK_ADDRESS"]
    log_version(version, version, Path(sys.argv[0]).name)
    keep_apart(address, serves=True)
    Server((address, 8080), Service).serve_forever()


if __name__ == "__main__":
    main()
