"""Recorded role calls from the whole clouds of this test run."""

import pytest

from tests.system.end_to_end.deployed import REQUEST, deploy
from tests.system.policies.recording import read_recordings


@pytest.fixture(scope="session")
def campaign(calls, faults_of_test):
    """Return the recordings of the fault campaign: one app in several clouds."""
    return read_recordings(calls / "faults")


@pytest.fixture(scope="session")
def end_to_end(calls, tmp_path_factory):
    """Return the recordings of the end-to-end tests, or of a new run if they are not selected."""
    folder = calls / "end_to_end"
    if not folder.exists():
        with deploy(tmp_path_factory.mktemp("state"), folder) as deployed:
            deployed.run(REQUEST)
    return read_recordings(folder)
