"""The time that is left of a run, with a clock in the test's hand."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import measured, planned
from tidemark.cli.remaining import Countdown, Expected, Outlook
from tidemark.cli.target import Target
from tidemark.cli.wording import around
from tidemark.store import keys

FAST, SLOW = Expected(trial=5, before=2, after=3), Expected(trial=15, before=2, after=3)
PLAN = planned(["9.0.0"], repetitions=2)


def left(recorded, total, elapsed, fast=FAST, slow=FAST):
    return Countdown(recorded, total).text(elapsed, fast, slow).partition(", left ")[2]


def test_the_time_that_is_left_counts_down_during_a_trial():
    assert Countdown([], 2).text(1, FAST, FAST) == "elapsed 1.0 s, left about 14 s"
    assert left([], 2, elapsed=4) == "about 11 s"


def test_an_unknown_pace_is_told_as_two_ends():
    assert left([], 4, elapsed=1, slow=SLOW) == "about 24 to 64 s"
    assert left([18], 2, elapsed=19, slow=SLOW) == "about 7 to 17 s"


def test_the_pace_is_that_of_the_last_trials_since_the_load_of_a_machine_changes():
    assert left([18, 21, 24], 5, elapsed=24, slow=SLOW) == "about 9.0 s"
    assert left([18, 21, 24, 33], 5, elapsed=33) == "about 6 to 12 s"
    assert left([18, 21, 31, 41, 51, 61], 8, elapsed=61) == "about 23 s"


def test_a_trial_that_is_overdue_leaves_the_time_of_those_behind_it():
    assert left([], 3, elapsed=60) == "about 13 s"
    assert left([10, 20], 3, elapsed=99) == "about 3.0 s"


def test_a_report_that_is_overdue_has_no_time_left():
    assert left([10, 20], 2, elapsed=21) == "about 2.0 s"
    assert Countdown([10, 20], 2).text(24, FAST, FAST) == "elapsed 24 s"


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (100, 150, "about 2 min 2 s"),
        (180, 480, "about 3 to 8 min"),
        (40, 150, "about 40 s to 2.5 min"),
        (5000, 20_000, "about 83 min to 5.6 h"),
        (0.2, 30, "at most 30 s"),
    ],
)
def test_a_time_between_two_has_one_figure_if_it_is_within_a_quarter_of_both(least, most, words):
    assert around(least, most) == words


@pytest.fixture
def first_run(monkeypatch):
    """Return the outlook of the first run of a suite on an idle machine, and its bucket."""
    monkeypatch.setattr("tidemark.cli.remaining.slowness", lambda *_: 1.0)
    bucket = FakeBucket()
    return Outlook(bucket, PLAN, Target(Path(), None)), bucket


def finish(bucket, test):
    """Store the result of a test of the first trial."""
    key = keys.measured(PLAN.run_id, PLAN.trials[0].trial, test.test)
    bucket.write(key, test.model_dump_json().encode())


def test_the_first_finished_test_makes_the_outlook_exact(first_run):
    outlook, bucket = first_run
    trial, (ingest, compaction) = PLAN.trials[0], measured(PLAN)[0].tests
    unknown = outlook.bounds(trial, now=0.0)
    finish(bucket, ingest)  # it took 5 s, and its declared time is 3.22 s

    asked_too_early = outlook.bounds(trial, now=1.9)
    fast, slow = outlook.bounds(trial, now=2.0)

    assert asked_too_early == unknown
    assert unknown[0].trial < unknown[1].trial
    declared = 5 / 3.22 * (3.22 + 2.7)
    assert (fast.trial, slow.trial) == pytest.approx((declared + 0.8 * 0.8, declared + 0.8 * 1.4))
    longer = compaction.ended_at + timedelta(seconds=5)
    finish(bucket, compaction.model_copy(update={"ended_at": longer}))
    assert outlook.bounds(trial, now=4.0)[0].trial == pytest.approx(15 + 0.8 * 0.8)


def test_nobody_asks_for_the_tests_of_a_first_trial_that_is_finished(first_run):
    outlook, bucket = first_run
    for test in measured(PLAN)[0].tests:
        finish(bucket, test)
    exact = outlook.bounds(PLAN.trials[0], now=0.0)
    bucket.delete(keys.work(PLAN.run_id))

    assert outlook.bounds(PLAN.trials[1], now=9.0) == exact
