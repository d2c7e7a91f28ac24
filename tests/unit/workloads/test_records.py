from itertools import chain

import pytest
from rocksdb_workload.records import BATCH_RECORDS, KEY_BYTES, RECORD_BYTES, Tally, batches


def records(seed=1, task=0, count=2500):
    return list(chain.from_iterable(batches(seed, task, count)))


def test_the_same_seed_and_task_make_the_same_records():
    assert records() == records()
    assert records(seed=2) != records()
    assert records(task=1) != records()


def test_all_records_are_made_with_a_key_of_their_own():
    made = records(count=2500)

    assert len({record[:KEY_BYTES] for record in made}) == 2500
    assert {len(record) for record in made} == {RECORD_BYTES}


def test_batches_are_sorted_and_overlap():
    made = list(batches(1, 0, 2500))

    assert [len(batch) for batch in made] == [BATCH_RECORDS, BATCH_RECORDS, 500]
    assert all(batch == sorted(batch) for batch in made)
    assert made[0][-1] > made[1][0]


def test_the_tally_is_the_same_for_records_in_pieces():
    made = sorted(records())
    pieces = [(record[:KEY_BYTES], record[KEY_BYTES:]) for record in made]

    assert Tally.of(pieces) == Tally.of(zip(made, strict=True))
    assert Tally.of(pieces).records == 2500


@pytest.mark.parametrize(
    "change",
    [
        lambda made: made[:-1],
        lambda made: [*made, made[-1]],
        lambda made: [made[1], made[0], *made[2:]],
        lambda made: [made[0][:-1] + b"?", *made[1:]],
    ],
    ids=["lost", "twice", "out of order", "changed"],
)
def test_the_tally_tells_what_happened_to_a_record(change):
    made = sorted(records())

    assert Tally.of(zip(change(made), strict=True)) != Tally.of(zip(made, strict=True))


def test_no_records_have_a_tally():
    assert Tally.of([]) == Tally(0, 0)
