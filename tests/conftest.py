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
OF_THEIR_OWN = {
    f"tests/end_to_end/test_{name}.py"
    for name in ("attaching", "deploying", "figures", "readme", "upgrade")
}


class ByClouds(LoadScopeScheduling):
    """Deals the tests of whole clouds, which are dear to start and share one run, to one process.

    The others go layer by layer, or file by file, to whichever process is free.
    """

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0]
        folder = file.split("/")[1]
        if file in OF_THEIR_OWN:
            return file
        if folder in WHOLE_CLOUDS:
            return "clouds"
        return "local" if folder == "local" else "layers"


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
