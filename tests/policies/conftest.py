"""What the roles called in the whole clouds of this run of the tests."""

import pytest

from tests.end_to_end.deployed import ASKED, deploy
from tests.policies.recording import read_recordings


@pytest.fixture(scope="session")
def campaign(calls, quick_faults):
    """The recordings of the fault campaign: one app, in several clouds."""
    return read_recordings(calls / "faults")


@pytest.fixture(scope="session")
def end_to_end(calls, tmp_path_factory):
    """The recordings of the end-to-end tests, or of a run of its own if they were not selected."""
    folder = calls / "end_to_end"
    if not folder.exists():
        with deploy(tmp_path_factory.mktemp("state"), folder) as deployed:
            deployed.run(ASKED)
    return read_recordings(folder)
