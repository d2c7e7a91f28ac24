import pytest
from harness.checks import CheckFailedError, check_tally
from harness.records import Tally


def test_equal_tallies_pass():
    check_tally(Tally(2, 5), Tally(2, 5), "The store")


def test_a_lost_record_fails():
    with pytest.raises(CheckFailedError, match="holds 1 records: 2 were expected"):
        check_tally(Tally(1, 5), Tally(2, 5), "The store")


def test_a_changed_record_fails():
    with pytest.raises(CheckFailedError, match="has the checksum 4: 5 was expected"):
        check_tally(Tally(2, 4), Tally(2, 5), "The store")
