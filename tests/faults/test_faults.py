import re

import pytest

from suites.files import read_suites
from tests.faults.__main__ import PAGE
from tests.faults.catalogue import FAULTS
from tests.faults.ground import SYSTEM

QUICK = [fault.name for fault in FAULTS if fault.quick]


@pytest.mark.parametrize("name", QUICK)
def test_a_fault_ends_as_it_must(quick_faults, name):
    assert quick_faults[name] == []


def test_the_page_has_every_fault_of_the_campaign():
    assert re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text(), re.MULTILINE) == [
        fault.name for fault in FAULTS
    ]


def test_no_two_faults_have_one_name():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_the_scripted_system_is_read_as_one_of_its_own():
    assert set(read_suites(SYSTEM)) == {"scripted"}
