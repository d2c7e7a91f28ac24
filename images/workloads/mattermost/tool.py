"""One agent of mattermost-load-test-ng: its program ltapi, its users, and what it measured."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping

from harness.task import CheckFailedError
from load_test import SIMULATION, configuration
from measurements import Measurements, measurements
from web import ask

_HOST = "127.0.0.1"
_PATIENCE_SECONDS = 60
_PAUSE_SECONDS = 0.5


class Tool:
    """The agent ``number``, whose users have names of their own; ``port`` is that of ltapi."""

    def __init__(self, number: int, port: int = 4000) -> None:
        self._name = f"lt{number}"
        self._port = port

    def start(self, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start ltapi with an agent without users; return the process."""
        program = subprocess.Popen(["ltapi"])
        body = {
            "LoadTestConfig": configuration(variables),
            "SimulControllerConfig": SIMULATION,
        }
        self._wait_for_api()
        self._call(f"/loadagent/create?id={self._name}", body)
        self._call(f"/loadagent/{self._name}/run", {})
        return program

    @property
    def users(self) -> int:
        """The users who are connected."""
        return int(json.loads(self._get(f"/loadagent/{self._name}/status"))["status"]["NumUsers"])

    def have(self, users: int) -> None:
        """Add users, or remove some, until there are as many."""
        difference = users - self.users
        if difference:
            verb = "addusers" if difference > 0 else "removeusers"
            self._call(f"/loadagent/{self._name}/{verb}?amount={abs(difference)}", {})

    def measured(self) -> Measurements:
        """Return what all requests so far have taken."""
        return measurements(self._get("/metrics").decode())

    def _wait_for_api(self) -> None:
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self._get("/metrics")
                return
            except CheckFailedError:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE_SECONDS)

    def _get(self, path: str) -> bytes:
        return ask(_HOST, self._port, path)

    def _call(self, path: str, body: object) -> None:
        answer = json.loads(ask(_HOST, self._port, path, body))
        if error := answer.get("error"):
            raise CheckFailedError(f"ltapi refused {path}: {error}.")
