"""What holds for all tests: generated cases are the same every time, and none is timed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from suites.files import ROOT

settings.register_profile("tidemark", deadline=None, derandomize=True)
settings.load_profile("tidemark")

WHOLE_CLOUDS = {"end_to_end", "faults", "policies"}


@pytest.hookimpl(tryfirst=True)  # xdist takes the groups of the tests in this very hook.
def pytest_collection_modifyitems(items):
    """Put the tests of whole clouds in one process and all others in a second, when two are given.

    Clouds are dear to start and share one run; the two groups take about as long as each other.
    """
    for item in items:
        layer = item.path.relative_to(Path(__file__).parent).parts[0]
        group = "clouds" if layer in WHOLE_CLOUDS else "layers"
        item.add_marker(pytest.mark.xdist_group(group))


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
