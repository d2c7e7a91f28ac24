import re

import pytest

from tests.system.faults.__main__ import PAGE
from tests.system.faults.catalogue import FAULTS
from tests.system.faults.ground import SYSTEM
from tidemark.model.suite_files import read_suites

QUICK = [fault.name for fault in FAULTS if fault.quick]


@pytest.mark.parametrize("name", QUICK)
def test_a_fault_ends_as_expected(quick_faults, name):
    assert quick_faults[name] == []


def test_the_page_has_every_fault_of_the_campaign():
    assert re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text(), re.MULTILINE) == [
        fault.name for fault in FAULTS
    ]


def test_fault_names_are_unique():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_the_scripted_system_has_one_suite():
    assert set(read_suites(SYSTEM)) == {"scripted"}
