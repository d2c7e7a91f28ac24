"""Distribution to processes and fixtures of all tests."""

import gc
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import fuzzing  # noqa: F401 (it loads the profile of Hypothesis)
import pytest
import surroundings  # noqa: F401 (it resets signals and environment)
from xdist.scheduler import LoadScopeScheduling

from tests.system.faults.verdicts import command, read_problems
from tidemark.model.checkout import ROOT

# Tests measure beside each other, and beside a run of the machine's user.
os.environ["TIDEMARK_BESIDE_OTHERS"] = "1"
# At each synthesis the CDK would validate the templates, for seconds, and only warn of what it
# finds; cfn-lint and cdk-nag check them once.
os.environ["CDK_VALIDATION"] = "false"

LONG = pytest.mark.timeout(3600)
FAULTS = "tests/system/faults"
FAULTS_OF_TEST = pytest.StashKey[Path]()
# This file starts clouds in other processes and shares them with no other test.
DEPLOYING = "tests/system/end_to_end/test_deploying.py"
# The longest groups come first, so that all processes end at about the same time.
FIRST = (
    "tests/system", "tests/component/cloud", DEPLOYING, "tests/unit/cli",
    "packages/onebox/tests/cloud", "tests/unit/workloads", "packages/cwli/tests/insights",
    "tests/component/infrastructure", "tests/component/store", "tests/unit/report",
    "tests/unit/run", "packages/onebox/tests/athena",
)  # fmt: skip


def _group(nodeid):
    """Return the tests' group, which one process runs: a folder, or what shares a cloud."""
    file = nodeid.partition("::")[0]
    if file == DEPLOYING:
        return file
    if file.startswith("tests/system/"):
        return "tests/system"
    return "/".join(file.split("/")[: 4 if file.startswith("packages/") else 3])


class SchedulingByCloud(LoadScopeScheduling):
    """Scheduler that gives each process a whole group; tests of whole clouds share a run."""

    def _split_scope(self, nodeid):
        return _group(nodeid)


def pytest_xdist_make_scheduler(config, log):
    """Return the scheduler; the groups of xdist 3.8 have no effect under pytest 9.2."""
    return SchedulingByCloud(config, log)


def _folder(nodeid):
    """Return the folder whose tests share clouds; all unit tests are of one."""
    if nodeid.startswith("packages/"):
        return tuple(nodeid.split("/")[1:4:2])
    _, layer, *rest = nodeid.partition("::")[0].split("/")
    return layer if layer == "unit" else (layer, *rest[:1])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Give long tests more time, and keep the tests of a folder together, also in random order.

    Several processes sort them by the start of their groups.
    """
    for item in items:
        # On a busy machine a whole cloud takes minutes to start, and the faults to end.
        if item.get_closest_marker("systems") or item.nodeid.startswith("tests/system/"):
            item.add_marker(LONG)
    places = {}
    for item in items:
        places.setdefault(_folder(item.nodeid), len(places))
    order = {group: place for place, group in enumerate(FIRST)}
    several = hasattr(config, "workerinput")
    items.sort(
        key=lambda item: (
            order.get(_group(item.nodeid), len(FIRST)) if several else 0,
            places[_folder(item.nodeid)],
        )
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let no collection of garbage look through what the tests import: all of it stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure():
    """Let Python free at its end what was imported; a library reports what is left."""
    gc.unfreeze()


def pytest_xdist_setupnodes(config):
    """Start the faults of ``make test`` beside the tests: they take minutes, and mostly wait."""
    whole = config.option.markexpr == "not systems"
    if whole and any(Path(FAULTS).is_relative_to(arg.partition("::")[0]) for arg in config.args):
        folder = Path(tempfile.mkdtemp(prefix="tidemark-faults-of-test-"))
        config.add_cleanup(lambda: shutil.rmtree(folder))
        # A shell tells the end of the campaign: the workers are not its parents.
        words = shlex.join(command("test", folder / "faults"))
        line = f"{words} > {folder}/verdicts; touch {folder}/ended"
        campaign = subprocess.Popen(["sh", "-c", line], cwd=ROOT, start_new_session=True)
        config.add_cleanup(lambda: _end(campaign))
        config.stash[FAULTS_OF_TEST] = folder


def _end(campaign):
    """End the campaign with its processes, if an interrupt left it unfinished."""
    if campaign.poll() is None:
        os.killpg(campaign.pid, signal.SIGTERM)
    campaign.wait()


def pytest_configure_node(node):
    """Tell a worker where the faults leave their verdicts."""
    if folder := node.config.stash.get(FAULTS_OF_TEST, None):
        node.workerinput["faults_of_test"] = str(folder)


@pytest.fixture(scope="session")
def calls(tmp_path_factory, request):
    """Return the folder of the calls that roles make in whole clouds."""
    started = getattr(request.config, "workerinput", {}).get("faults_of_test")
    return Path(started) if started else tmp_path_factory.mktemp("calls")


@pytest.fixture(scope="session")
def faults_of_test(calls, request):
    """Return the problems of each fault of ``make test``."""
    verdicts = calls / "verdicts"
    if "faults_of_test" in getattr(request.config, "workerinput", {}):
        while not (calls / "ended").exists():
            time.sleep(0.1)
    else:
        with verdicts.open("w") as file:
            subprocess.run(command("test", calls / "faults"), cwd=ROOT, stdout=file, check=False)
    return read_problems(verdicts)
