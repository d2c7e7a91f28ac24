import re
import subprocess

import pytest

from tests.system.faults.__main__ import PAGE
from tests.system.faults.catalogue import FAULTS
from tests.system.faults.ground import SYSTEM
from tests.system.faults.verdicts import command, read_problems
from tests.system.policies.proof import problems
from tests.system.policies.recording import read_recordings
from tidemark.model.checkout import ROOT
from tidemark.model.suite_files import read_suites


def names(target):
    return [fault.name for fault in FAULTS if fault.target == target]


@pytest.mark.parametrize("name", names("test"))
def test_a_fault_ends_as_expected(faults_of_test, name):
    assert faults_of_test[name] == []


@pytest.fixture(scope="module")
def of_systems(tmp_path_factory):
    """Return a folder with the verdicts and the calls of the faults of ``make systems``."""
    folder = tmp_path_factory.mktemp("faults")
    with (folder / "verdicts").open("w") as file:
        subprocess.run(command("systems", folder / "calls"), cwd=ROOT, stdout=file, check=False)
    return folder


@pytest.mark.systems
@pytest.mark.parametrize("name", names("systems"))
def test_a_fault_of_the_longer_tests_ends_as_expected(of_systems, name):
    assert read_problems(of_systems / "verdicts")[name] == []


@pytest.mark.systems
def test_the_policies_allow_every_call_of_the_longer_faults(of_systems):
    recordings = read_recordings(of_systems / "calls")

    assert recordings
    assert list(problems(recordings, whole=False)) == []


def test_the_page_has_every_fault_of_the_campaign():
    assert re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text(), re.MULTILINE) == [
        fault.name for fault in FAULTS
    ]


def test_fault_names_are_unique():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_the_scripted_system_has_one_suite():
    assert set(read_suites(SYSTEM)) == {"scripted"}
