"""One private cloud in this process, from its first request to its last."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from moto.moto_api._internal.models import moto_api_backend
from moto.server import ThreadedMotoServer

from local.asl.jsonata import OnEvaluate
from local.cloud import functions, logs, objects, stacks, state_machines, tasks
from local.cloud.deployment import Stack, deploy, synthesise
from local.cloud.endpoint import ACCOUNT, Endpoint
from local.logs.store import LogStore
from suites.files import ROOT


class Cloud:
    """The one-machine cloud over one state folder; a context that cleans up after itself.

    What it keeps in the folder outlives it: ``logs``, ``objects`` and the synthesised template.
    """

    def __init__(self, state: Path, port: int = 0, on_evaluate: OnEvaluate | None = None) -> None:
        self._state = state
        self._on_evaluate = on_evaluate
        self._open = ExitStack()
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)

    def __enter__(self) -> Cloud:
        """Start the server on its port, a free one if it was given 0."""
        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        with ExitStack() as opening:
            # moto keeps what was created in the process: the next cloud in it starts empty.
            opening.callback(moto_api_backend.reset)
            objects.install(self._state / "objects")
            opening.callback(stacks.install().restore)
            self._server.start()
            opening.callback(self._server.stop)
            _, port = self._server.get_host_and_port()
            self.endpoint = Endpoint(port)
            log_groups = logs.install(LogStore(self._state / "logs", ACCOUNT), self.endpoint)
            opening.callback(log_groups.close)
            self.functions = functions.install(self._state, self.endpoint, log_groups)
            opening.callback(self.functions.close)
            self.tasks = tasks.install(ROOT / "workloads", self._state, self.endpoint, log_groups)
            opening.callback(self.tasks.close)
            self.state_machines = state_machines.install(
                self.endpoint, self.tasks, self._on_evaluate
            )
            opening.callback(self.state_machines.close)
            self._open = opening.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop all that runs in it, then the server."""
        self._open.__exit__(kind, error, trace)

    def deploy(self) -> Stack:
        """Deploy the app, synthesised anew if its sources have changed, and warm its functions."""
        stack = deploy(synthesise(self._state), self.endpoint)
        self.functions.warm(stack.functions)
        return stack
