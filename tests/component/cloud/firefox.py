"""Debian's Firefox for the tests of pages, driven by its own protocol, Marionette.

Playwright drives a Firefox of its own build, which is not a package of Debian's.
"""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FIREFOX = Path(os.environ.get("FIREFOX", "/usr/bin/firefox-esr"))
_SECONDS = 60
_READ = 65_536
# Firefox takes a free port, writes it into its profile, and asks nobody for updates.
_SETTINGS = {
    "marionette.port": 0,
    "app.update.enabled": False,
    "app.normandy.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}


class Tab:
    """The only tab of a browser.

    Messages are JSON behind their length: https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._unread = connection, b""
        self._next()  # Firefox says first which protocol it speaks.
        self._ask("WebDriver:NewSession", {})

    def goto(self, address: str) -> None:
        """Open a page, and wait until it is loaded."""
        self._ask("WebDriver:Navigate", {"url": address})

    def run(self, script: str) -> Any:
        """Return the value that the page's script returns."""
        return self._ask("WebDriver:ExecuteScript", {"script": script})["value"]

    def wait_for(self, condition: str) -> None:
        """Wait until an expression of the page is true."""
        wait = (
            "const [done] = arguments; const look = () =>"
            f" ({condition}) ? done(true) : setTimeout(look, 50); look();"
        )
        self._ask("WebDriver:SetTimeouts", {"script": 1000 * _SECONDS})
        self._ask("WebDriver:ExecuteAsyncScript", {"script": wait})

    def _ask(self, command: str, parameters: dict[str, Any]) -> Any:
        message = json.dumps([0, 1, command, parameters]).encode()
        self._connection.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self._next()
        assert error is None, f"{command}: {error}"
        return result

    def _next(self) -> Any:
        while b":" not in self._unread:
            self._unread += self._connection.recv(_READ)
        length, _, self._unread = self._unread.partition(b":")
        size = int(length)
        while len(self._unread) < size:
            self._unread += self._connection.recv(_READ)
        message, self._unread = self._unread[:size], self._unread[size:]
        return json.loads(message)


@contextmanager
def firefox(profile: Path) -> Iterator[Tab]:
    """Yield the tab of a browser with an empty profile; fail with an instruction without one."""
    assert FIREFOX.exists(), f"{FIREFOX} does not exist: `make {FIREFOX}` installs Debian's firefox"
    lines = [f'user_pref("{name}", {json.dumps(value)});' for name, value in _SETTINGS.items()]
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
    command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", profile]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            with socket.create_connection(("127.0.0.1", _port(profile)), _SECONDS) as connection:
                yield Tab(connection)
        finally:
            running.terminate()


def _port(profile: Path) -> int:
    """Return the port of a starting browser, as soon as it has written it."""
    written = profile / "MarionetteActivePort"
    end = time.monotonic() + _SECONDS
    while not (written.exists() and (text := written.read_text())):
        assert time.monotonic() < end, f"{FIREFOX} did not start within {_SECONDS} s"
        time.sleep(0.1)
    return int(text)
