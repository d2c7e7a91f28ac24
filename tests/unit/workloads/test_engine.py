"""The records of a test, their tally, and the check of a store."""

from itertools import chain

import pytest
from harness.engine import BATCH_RECORDS, KEY_BYTES, RECORD_BYTES, Tally, batches, check_tally
from harness.task import CheckFailedError


def records(seed=1, task=0, count=2500):
    return list(chain.from_iterable(batches(seed, task, count)))


def test_the_same_seed_and_task_make_the_same_records():
    assert records() == records()
    assert records(seed=2) != records()
    assert records(task=1) != records()


def test_all_records_have_different_keys():
    data = records(count=2500)

    assert len({record[:KEY_BYTES] for record in data}) == 2500
    assert {len(record) for record in data} == {RECORD_BYTES}


def test_batches_are_sorted_and_overlap():
    data = list(batches(1, 0, 2500))

    assert [len(batch) for batch in data] == [BATCH_RECORDS, BATCH_RECORDS, 500]
    assert all(batch == sorted(batch) for batch in data)
    assert data[0][-1] > data[1][0]


def test_records_in_pieces_have_the_same_tally():
    data = sorted(records())
    pieces = [piece for record in data for piece in (record[:KEY_BYTES], record[KEY_BYTES:])]

    assert Tally.of(pieces, pieces=2) == Tally.of(data)
    assert Tally.of(data).records == 2500


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: [*data, data[-1]],
        lambda data: [data[1], data[0], *data[2:]],
        lambda data: [data[0][:-1] + b"?", *data[1:]],
    ],
    ids=["lost", "twice", "out of order", "changed"],
)
def test_the_tally_shows_any_change_of_a_record(change):
    data = sorted(records())

    assert Tally.of(change(data)) != Tally.of(data)


def test_the_tally_of_no_records_is_zero():
    assert Tally.of([]) == Tally(0, 0)


def test_equal_tallies_pass():
    check_tally(Tally(2, 5), Tally(2, 5), "The store")


def test_a_lost_record_fails():
    with pytest.raises(CheckFailedError, match="holds 1 records: 2 were expected"):
        check_tally(Tally(1, 5), Tally(2, 5), "The store")


def test_a_changed_record_fails():
    with pytest.raises(CheckFailedError, match="has the checksum 4: 5 was expected"):
        check_tally(Tally(2, 4), Tally(2, 5), "The store")
