"""One cloud for all tests, with the app deployed, and one small run measured in it."""

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from cdk.settings import read_settings, written_context
from local.cloud.deployment import synthesise
from tests.end_to_end.deployed import ASKED, deploy


@pytest.fixture(scope="session")
def state(tmp_path_factory):
    """A state folder with the template, as the commands deploy it: with the settings as written."""
    state = tmp_path_factory.mktemp("state")
    synthesise(state, read_settings(written_context()))
    return state


@dataclass
class Clock:
    """A clock that stands still until it is moved on."""

    time: datetime

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture(scope="session")
def due():
    """When the suite was due last: two days ago."""
    return datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(days=2)


@pytest.fixture(scope="session")
def clock(due):
    """EventBridge Scheduler's, before that."""
    return Clock(due - timedelta(days=5))


@pytest.fixture(scope="session")
def deployed(state, due, clock, calls):
    weekly = {"rocksdb": {"cron": f"{due:%-M %-H} ? * {due:%a} *".upper()}}
    context = {"schedules": weekly}
    with deploy(state, calls / "end_to_end", context=context, clock=clock) as deployed:
        yield deployed


@pytest.fixture(scope="session")
def new_state(state, tmp_path_factory):
    """Give state folders that share nothing but the synthesised template."""

    def new_state():
        folder = tmp_path_factory.mktemp("own")
        shutil.copytree(state / "assemblies", folder / "assemblies")
        return folder

    return new_state


@pytest.fixture(scope="session")
def own_state(new_state):
    """A state folder of the command line's own."""
    return new_state()


@pytest.fixture(scope="session")
def measured(deployed):
    """A run that has ended well."""
    run, status, cause = deployed.run(ASKED)
    assert status == "SUCCEEDED", cause
    return run


@pytest.fixture(scope="session")
def rejected(deployed):
    """A run whose input was refused, with its execution's status and cause."""
    return deployed.run({"suite": "rocksdb", "versions": ["../x"]})


@pytest.fixture(scope="session")
def failed(deployed, tmp_path_factory):
    """A run whose task could not install its version, with its execution's status and cause."""
    nothing = tmp_path_factory.mktemp("nothing")
    with pytest.MonkeyPatch.context() as patch:
        # The package index is out of reach, and nothing is in a cache.
        patch.setenv("UV_OFFLINE", "1")
        patch.setenv("UV_CACHE_DIR", str(nothing / "uv"))
        patch.setenv("HOME", str(nothing))
        asked = {"suite": "rocksdb", "versions": ["9.0.0"], "repetitions": 1, "records": 1}
        return deployed.run(asked)
