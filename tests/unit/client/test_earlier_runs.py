"""The pace of earlier runs, from their stored trials."""

from datetime import timedelta

import pytest

from tests.plans import RUN, STARTED
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import measured, planned
from tidemark.client.earlier_runs import earlier_paces
from tidemark.run.run_outcome import planned_outcome
from tidemark.store import keys
from tidemark.store.bucket import Damaged
from tidemark.store.run_objects import finished_tests, record

END = STARTED + timedelta(seconds=60)
NEWER = RUN.replace("20261120", "20261121")


@pytest.fixture
def bucket():
    return FakeBucket()


def stored(bucket, name, repetitions):
    plan = planned(["9.0.0"], repetitions, name=name)
    trials = measured(plan)
    outcome = planned_outcome(plan, trials, set(), "arn:x", END)
    for trial in trials:
        record(bucket, trial)
    for key, content in ((keys.plan(name), plan), (keys.outcome(name), outcome)):
        bucket.write(key, content.model_dump_json().encode())
    bucket.write(keys.table("runs", "rocksdb", name), b"")


def test_the_newest_run_comes_first(bucket):
    stored(bucket, RUN, repetitions=3)
    stored(bucket, NEWER, repetitions=2)

    newer, older = earlier_paces(bucket, "rocksdb", at_once=2)

    # The last test of 3 trials ends 47 s after the start, and that of 2 trials 12 s earlier.
    assert (newer.after, older.after) == (60 - 35, 60 - 47)
    assert earlier_paces(bucket, "clickhouse", at_once=2) == []


def test_a_damaged_run_hides_no_other(bucket, monkeypatch):
    for name in (RUN, NEWER):
        stored(bucket, name, repetitions=2)
    find = bucket.find

    def find_whole(key):
        if NEWER in key:
            raise Damaged(f"{key} is damaged")
        return find(key)

    monkeypatch.setattr(bucket, "find", find_whole)
    assert len(earlier_paces(bucket, "rocksdb", at_once=2)) == 1


def test_the_tests_of_a_trial_are_known_before_it_is_recorded(bucket):
    (trial, *_) = measured(planned(["9.0.0"]))
    key = keys.measured(RUN, 1, "ingest")
    bucket.write(key, trial.tests[0].model_dump_json().encode())

    assert list(finished_tests(bucket, RUN, 1)) == [trial.tests[0]]
    record(bucket, trial)
    assert finished_tests(bucket, RUN, 1) == trial.tests
