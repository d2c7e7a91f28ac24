"""Hypothesis profile, distribution to processes and fixtures of all tests."""

import json
import subprocess
import sys

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tidemark.model.checkout import ROOT

settings.register_profile("tidemark", deadline=None, derandomize=True)
settings.load_profile("tidemark")

# These files start clouds in other processes and share them with no other test.
FILES_WITH_CLOUDS = {
    f"tests/system/end_to_end/test_{name}.py"
    for name in ("attaching", "deploying", "figures", "readme", "upgrade")
}


class SchedulingByCloud(LoadScopeScheduling):
    """Scheduler that gives each process a layer, a component or a file with its own clouds.

    One process takes all other tests of whole clouds, which share a run.
    """

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0]
        if file in FILES_WITH_CLOUDS:
            return file
        _, layer, folder, *_ = file.split("/")
        return folder if layer == "component" else layer


def pytest_xdist_make_scheduler(config, log):
    """Return the scheduler; the groups of xdist 3.8 have no effect under pytest 9.2."""
    return SchedulingByCloud(config, log)


@pytest.fixture(scope="session")
def calls(tmp_path_factory):
    """Return the folder where whole clouds record the calls of their roles."""
    return tmp_path_factory.mktemp("calls")


@pytest.fixture(scope="session")
def quick_faults(calls):
    """Return the problems of each quick fault, found in a process without another cloud."""
    arguments = ["--quick", "--json", "--calls", calls / "faults"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.system.faults", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    return {verdict["fault"]: verdict["problems"] for verdict in verdicts}
