"""One private cloud in this process, from its first request to its last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from moto.moto_api._internal.models import moto_api_backend

from local.account import ACCOUNT
from local.asl.jsonata import OnEvaluate
from local.cloud import athena, functions, logs, objects, stacks, state_machines, tasks
from local.cloud.deployment import Stack, deploy, synthesise
from local.cloud.endpoint import Endpoint
from local.cloud.functions import Functions
from local.cloud.server import Server
from local.logs.store import LogStore
from suites.files import ROOT


@dataclass(frozen=True)
class Cloud:
    """A cloud that is up."""

    endpoint: Endpoint
    state: Path
    _functions: Functions

    def deploy(self) -> Stack:
        """Deploy the app, synthesised anew if its sources have changed, and warm its functions."""
        stack = deploy(synthesise(self.state), self.endpoint)
        self._functions.warm(stack.functions)
        return stack


@contextmanager
def start_cloud(
    state: Path, port: int = 0, on_evaluate: OnEvaluate | None = None
) -> Iterator[Cloud]:
    """Have a cloud on ``port``, a free one if it is 0; at the end, stop all that runs in it.

    What it keeps in the folder ``state`` outlives it: logs, objects and the synthesised template.
    ``on_evaluate`` is told of every JSONata evaluation.

    Raises
    ------
    PortTaken
        If the port is not free.
    ObjectFilesError
        If another process has the folder, or it is damaged.

    """
    # Tasks and functions have working directories of their own.
    state = state.resolve()
    with ExitStack() as opened:
        # moto keeps what was created in the process: the next cloud in it starts empty.
        opened.callback(moto_api_backend.reset)
        opened.enter_context(objects.install(state / "objects"))
        opened.callback(stacks.install().restore)
        server = opened.enter_context(Server(port))
        endpoint = Endpoint(server.port)
        store = LogStore(state / "logs", ACCOUNT)
        opened.callback(store.close)
        log_groups = logs.install(store, endpoint)
        opened.callback(log_groups.close)
        opened.callback(athena.install(endpoint).close)
        environments = functions.install(state, endpoint, log_groups)
        opened.callback(environments.close)
        running = tasks.install(ROOT / "workloads", state, endpoint, log_groups)
        opened.callback(running.close)
        executions = state_machines.install(endpoint, running, on_evaluate)
        opened.callback(executions.close)
        yield Cloud(endpoint, state, environments)
