"""What holds for all tests: generated cases are the same every time, and none is timed."""

import json
import subprocess
import sys

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from suites.files import ROOT

settings.register_profile("tidemark", deadline=None, derandomize=True)
settings.load_profile("tidemark")

WHOLE_CLOUDS = {"end_to_end", "faults", "policies"}
# Their clouds are of other processes, and shared with no other test.
OF_THEIR_OWN = tuple(
    f"tests/end_to_end/test_{name}.py" for name in ("deploying", "figures", "readme", "upgrade")
)


class ByClouds(LoadScopeScheduling):
    """Deals the tests of whole clouds to one process and all others to a second.

    Clouds are dear to start and share one run; the two parts take about as long as each other.
    """

    def _split_scope(self, nodeid):
        shared = nodeid.split("/")[1] in WHOLE_CLOUDS and not nodeid.startswith(OF_THEIR_OWN)
        return "clouds" if shared else "layers"


def pytest_xdist_make_scheduler(config, log):
    """Return how tests are dealt out; the groups of xdist 3.8 do nothing under pytest 9.2."""
    return ByClouds(config, log)


@pytest.fixture(scope="session")
def calls(tmp_path_factory):
    """The folder in which whole clouds leave what their roles called."""
    return tmp_path_factory.mktemp("calls")


@pytest.fixture(scope="session")
def quick_faults(calls):
    """What was not as it must be, by quick fault; in a process that has no other cloud in it."""
    told = ["--quick", "--json", "--calls", calls / "faults"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", *told],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    return {verdict["fault"]: verdict["problems"] for verdict in verdicts}
