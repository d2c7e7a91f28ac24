"""Fixtures: one cloud with the deployed app and one small run for all tests."""

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from onebox.cloud.deployment import synthesise
from tests.system.end_to_end.command_line import README_RUN, SMALL, tidemark
from tests.system.end_to_end.deployed import REQUEST, deploy
from tests.system.end_to_end.weekly import missed, weekly  # noqa: F401
from tidemark.one_machine.app import machine_app


@pytest.fixture(scope="session")
def template(tmp_path_factory, worker_id):
    """Return a folder with the assembly of the written settings, as commands deploy it."""
    own = tmp_path_factory.getbasetemp()
    # A synthesis takes longer than most tests, so all processes of the tests share one.
    folder = (own if worker_id == "master" else own.parent) / "template"
    folder.mkdir(exist_ok=True)
    return synthesise(folder, machine_app())


@dataclass
class Clock:
    """Clock that stands still until a test sets it."""

    time: datetime

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture(scope="session")
def due():
    """Return the last due time of the suite: two days ago."""
    return datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(days=2)


@pytest.fixture(scope="session")
def clock(due):
    """Return EventBridge Scheduler's clock, five days before the due time."""
    return Clock(due - timedelta(days=5))


@pytest.fixture(scope="package")
def deployed(new_state, due, clock, calls):
    """A cloud that replaces parts of moto until the tests of this folder have ended."""
    every_week = {"cron": f"{due:%-M %-H} ? * {due:%a} *".upper()}
    context = {"schedules": {"rocksdb": every_week}}
    with deploy(new_state(), calls / "end_to_end", context=context, clock=clock) as deployed:
        yield deployed


@pytest.fixture(scope="session")
def new_state(template, tmp_path_factory):
    """Return a function that makes state folders, which share only the synthesised template."""

    def new_state():
        folder = tmp_path_factory.mktemp("state")
        # Another worker may be at work beside the template, on one that is not finished.
        shutil.copytree(template, folder / "assemblies" / template.name)
        return folder

    return new_state


@pytest.fixture(scope="session")
def own_state(new_state):
    """Return a state folder for the command line alone."""
    return new_state()


@pytest.fixture(scope="session")
def ran(own_state):
    """Return the finished process of the README's second run, which starts a cloud of its own."""
    return tidemark(*README_RUN, *SMALL, "--baseline", "9.0.0", "--state", own_state)


@pytest.fixture(scope="session")
def state_with_run(ran, own_state, tmp_path_factory):
    """Return a function that makes state folders with this run."""

    def state_with_run():
        assert ran.returncode == 0, ran.stdout + ran.stderr
        folder = tmp_path_factory.mktemp("state") / "state"
        shutil.copytree(own_state, folder)
        return folder

    return state_with_run


@pytest.fixture(scope="package")
def measured(deployed):
    """Return a run that has succeeded."""
    run, status, cause = deployed.run(REQUEST)
    assert status == "SUCCEEDED", cause
    return run


@pytest.fixture(scope="package")
def rejected(deployed):
    """Return a run with a refused input, with the status and cause of its execution."""
    return deployed.run({"suite": "rocksdb", "versions": ["../x"]})


@pytest.fixture(scope="package")
def failed(deployed, tmp_path_factory):
    """Return a run whose task cannot install its version, with its execution's status and cause."""
    empty = tmp_path_factory.mktemp("empty")
    with pytest.MonkeyPatch.context() as patch:
        # The package index is out of reach and the cache is empty.
        patch.setenv("UV_OFFLINE", "1")
        patch.setenv("UV_CACHE_DIR", str(empty / "uv"))
        patch.setenv("HOME", str(empty))
        fields = {
            "suite": "rocksdb",
            "versions": ["9.0.0"],
            "repetitions": 1,
            "records": 1,
            "layout": "trials",
        }
        return deployed.run(fields)
