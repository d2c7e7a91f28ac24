"""One private cloud in this process, from its first request to its last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from moto.core.common_models import BaseModel
from moto.moto_api._internal.models import moto_api_backend
from moto.servicequotas.models import ServiceQuotasBackend

import onebox.cloud.data_files  # noqa: F401 (before moto's EC2)
from onebox.app import ACCOUNT, App, Quota, Stack
from onebox.asl.interpreter import Jitter, full_jitter
from onebox.asl.jsonata import OnEvaluate
from onebox.cloud import objects, stacks
from onebox.cloud.athena import AthenaQueries
from onebox.cloud.deployment import bootstrap, deploy, synthesise
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.events import Events
from onebox.cloud.functions import Functions
from onebox.cloud.logs import CloudWatchLogs
from onebox.cloud.processes import Guard
from onebox.cloud.replacements import Replacements
from onebox.cloud.schedules import Clock, Scheduler
from onebox.cloud.sealed_folders import remove_unused
from onebox.cloud.server import Server
from onebox.cloud.state_machines import StateMachines
from onebox.cloud.tasks import Tasks
from onebox.logs.store import LogStore
from onebox.logs.value_cache import ValueCache


def add_quotas(quotas: Iterable[Quota]) -> Replacements:
    """Add quotas that moto lacks."""
    replacements = Replacements()
    values = {(quota.service, quota.code): quota for quota in quotas}

    def get(backend: ServiceQuotasBackend, service_code: str, quota_code: str) -> dict[str, Any]:
        quota = values.get((service_code, quota_code))
        if quota is None:
            return dict(original(backend, service_code, quota_code))
        return {
            "ServiceCode": quota.service,
            "QuotaCode": quota.code,
            "QuotaName": quota.name,
            "Value": quota.value,
        }

    original = replacements.set(ServiceQuotasBackend, "get_service_quota", get)
    return replacements


def forget_instances() -> Replacements:
    """Have Python free what nothing uses any more: moto lists every resource and value."""
    replacements = Replacements()
    replacements.set(BaseModel, "__new__", staticmethod(lambda cls, *_, **__: object.__new__(cls)))
    return replacements


@dataclass(frozen=True)
class Cloud:
    """A running cloud."""

    endpoint: Endpoint
    state: Path
    app: App
    _events: Events
    _scheduler: Scheduler

    def deploy(self, *, schedules: bool = True) -> Stack:
        """Deploy the app, synthesised anew if its sources have changed.

        Start its schedules, unless ``schedules`` is false and the caller starts them.
        """
        stack = deploy(synthesise(self.state, self.app), self.endpoint)
        if schedules:
            self.start_schedules()
        return stack

    def bootstrap(self) -> None:
        """Create what ``cdk bootstrap`` creates, and no stack: the CDK CLI deploys it."""
        bootstrap(self.endpoint)
        self.start_schedules()

    def start_schedules(self) -> None:
        """Make each schedule of the stack fire, now and at its rate."""
        self._events.start_schedules()
        self._scheduler.start()


@contextmanager
def start_cloud(
    app: App,
    state: Path,
    port: int = 0,
    on_evaluate: OnEvaluate | None = None,
    *,
    jitter: Jitter = full_jitter,
    clock: Clock = lambda: datetime.now(UTC),
) -> Iterator[Cloud]:
    """Yield a cloud on ``port``, a free port if it is 0; at the end, stop all its processes.

    The folder ``state`` keeps the logs, the objects and the synthesised template for later clouds.
    ``on_evaluate`` is called for every JSONata evaluation. ``jitter`` returns the seconds to wait
    before a retry, at most its argument. ``clock`` returns the time for EventBridge Scheduler.

    Raises
    ------
    PortTaken
        If the port is not free.
    FolderInUse
        If another process uses the folder.
    ObjectFilesError
        If the folder is damaged.

    """
    # Tasks and functions run in other directories, where a relative path would be wrong.
    state = state.resolve()
    with ExitStack() as opened:
        # moto keeps its resources for the whole process: the reset lets the next cloud start empty.
        opened.callback(moto_api_backend.reset)
        opened.callback(forget_instances().restore)
        opened.enter_context(objects.install(state / "objects"))
        for folder in ("assemblies", "functions"):
            remove_unused(state / folder)
        opened.callback(stacks.install().restore)
        opened.callback(add_quotas(app.quotas).restore)
        endpoint = opened.enter_context(Server(port)).endpoint
        guard = opened.enter_context(Guard())
        store = LogStore(state / "logs", ACCOUNT, cache=ValueCache(state / "parsed"))
        opened.callback(store.close)
        log_groups = CloudWatchLogs(store, endpoint)
        opened.callback(log_groups.close)
        opened.callback(AthenaQueries(endpoint, state / "tables").close)
        functions = Functions(state, endpoint, log_groups, guard)
        opened.callback(functions.close)
        running = Tasks(app.programs, state, endpoint, log_groups, guard)
        opened.callback(running.close)
        rules = Events(functions)
        executions = StateMachines(endpoint, running, rules.execution_changed, on_evaluate, jitter)
        opened.callback(executions.close)
        # The functions that an abort sets off still need the executions' API and the tasks.
        opened.callback(rules.close)
        opened.callback(executions.abort)
        scheduler = Scheduler(endpoint, app.read_cron, clock)
        opened.callback(scheduler.close)
        yield Cloud(endpoint, state, app, rules, scheduler)
