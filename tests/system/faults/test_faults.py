import re
import subprocess

import pytest

from tests.system.faults.__main__ import PAGE
from tests.system.faults.catalogue import FAULTS
from tests.system.faults.ground import SYSTEM
from tests.system.faults.verdicts import command, read_problems
from tidemark.model.checkout import ROOT
from tidemark.model.suite_files import read_suites


def names(target):
    return [fault.name for fault in FAULTS if fault.target == target]


@pytest.mark.parametrize("name", names("test"))
def test_a_fault_ends_as_expected(faults_of_test, name):
    assert faults_of_test[name] == []


@pytest.fixture(scope="module")
def faults_of_systems(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    verdicts = folder / "verdicts"
    with verdicts.open("w") as file:
        subprocess.run(command("systems", folder / "calls"), cwd=ROOT, stdout=file, check=False)
    return read_problems(verdicts)


@pytest.mark.systems
@pytest.mark.parametrize("name", names("systems"))
def test_a_fault_of_the_longer_tests_ends_as_expected(faults_of_systems, name):
    assert faults_of_systems[name] == []


def test_the_page_has_every_fault_of_the_campaign():
    assert re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text(), re.MULTILINE) == [
        fault.name for fault in FAULTS
    ]


def test_fault_names_are_unique():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_the_scripted_system_has_one_suite():
    assert set(read_suites(SYSTEM)) == {"scripted"}
