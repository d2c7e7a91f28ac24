"""Tidemark's app as the one-machine cloud runs it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onebox.app import App, Programs, Quota
from onebox.cloud.processes import BARE_PYTHON, clean_environment
from tidemark.client.deployed import Stack
from tidemark.model.checkout import CODE, ROOT, written_context
from tidemark.model.cron import Cron
from tidemark.model.parameters import MOST_TASKS
from tidemark.model.results import CLOUD
from tidemark.model.services import READY_VARIABLE
from tidemark.model.settings import Settings, read_settings
from tidemark.model.task import HARNESS, WORKLOAD_LABEL
from tidemark.money.capacity import VCPUS
from tidemark.pages.shell import LIBRARIES, MODULES

if TYPE_CHECKING:
    from onebox.cloud.cloud import Cloud

# -O leaves out jsii's checks of every argument's type; mypy has made them already.
_COMMAND = (sys.executable, "-O", "-m", "cdk.app")
_PACKAGES = ("aws", "tidemark")
_SOURCES = ("cdk", "lambdas", "queries", "cdk.json", "requirements.txt")
# One machine has no QuickSight: Tidemark itself draws the dashboard's definition. It has the zones
# of one region, the network and the certificates of its user, no key of KMS, and every suite.
_ABSENT: Mapping[str, Any] = {
    "reports": False, "availabilityZones": [], "privateNetwork": False, "egress": [],
    "packageIndex": "", "caBundle": "", "taskEnvironment": {}, "kmsKey": "", "suites": [],
    "githubRepository": "",
}  # fmt: skip
_LOGS_DEADLINE_SECONDS = 20
_ADDRESS = "TIDEMARK_ADDRESS"
# The tools of a workload need these to reach their package index through a company's proxy.
_INDEX_SETTINGS = re.compile(
    r"(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|(UV|MAVEN)_\w+|JAVA_HOME", re.IGNORECASE
)
_MOST_VCPUS_OF_TASK = 16


def machine_app(given: Mapping[str, Any] | None = None) -> App:
    """Return the app with the settings of one machine; ``given`` replaces some of cdk.json.

    Raises
    ------
    Refused
        If a setting is not accepted.

    """
    given = given or {}
    # Nobody signs in here.
    settings = read_settings({**written_context(), "policies": False, **given, **_ABSENT})
    if "logsDeadlineSeconds" not in given:
        # The lines of a task are stored when it ends: only a query that matches none waits longer.
        deadline = min(settings.logs_deadline_seconds, _LOGS_DEADLINE_SECONDS)
        settings = settings.model_copy(update={"logs_deadline_seconds": deadline})
    return app_of(settings)


def app_of(settings: Settings) -> App:
    """Return the app with these settings; raise ModuleNotFoundError without the CDK."""
    if find_spec("aws_cdk") is None:
        # Its own process needs it, whose traceback nobody should read.
        raise ModuleNotFoundError(name="aws_cdk")
    systems, libraries = settings.systems, (ROOT / MODULES / name for name in LIBRARIES)
    packages = (CODE / package for package in _PACKAGES)
    own = (ROOT / source for source in _SOURCES)
    # The account has room for the widest run of the largest tasks.
    room = float(MOST_TASKS * _MOST_VCPUS_OF_TASK)
    return App(
        folder=ROOT,
        command=_COMMAND,
        context=settings.model_dump_json(by_alias=True),
        sources=(*packages, *own, *libraries, systems / "suites", systems / "workloads"),
        programs=Programs(
            folder=systems / "workloads",
            label=WORKLOAD_LABEL,
            shared=HARNESS,
            environment=workload_environment,
            address_variable=_ADDRESS,
            service_variable=READY_VARIABLE,
            own_task=CLOUD,
        ),
        read_cron=Cron,
        quotas=(Quota(VCPUS.service, VCPUS.code, VCPUS.name, room),),
    )


def deploy(cloud: Cloud, *, schedules: bool = True) -> Stack:
    """Deploy the app, as `onebox.cloud.cloud.Cloud.deploy` does; return its own stack."""
    stack = cloud.deploy(schedules=schedules)
    return Stack(stack.arn, stack.outputs)


def workload_environment() -> dict[str, str]:
    """Return the environment of a workload: the harness, its tools, its package index's settings.

    It has none of Tidemark's own packages: a version that was not prepared is missing.
    """
    return {
        **clean_environment(),
        "PATH": f"{Path(BARE_PYTHON).parent}:/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": str(HARNESS),
        # Else Python would write beside the programs, into the user's folder of workloads.
        "PYTHONPYCACHEPREFIX": str(Path.home() / ".cache" / "tidemark" / "bytecode"),
        **{name: value for name, value in os.environ.items() if _INDEX_SETTINGS.match(name)},
        "TIDEMARK_UV": str(Path(sys.executable).with_name("uv")),
    }
