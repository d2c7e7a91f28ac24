"""The forecast of a run: its pace, that of earlier runs, and the time that is left."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.plans import RUN, STARTED
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import failed, measured, planned
from tidemark.cli.forecast import (
    DECLARED,
    Expected,
    Outlook,
    Pace,
    around,
    countdown,
    earlier_paces,
    forecast,
    measured_pace,
    pace_of_tests,
)
from tidemark.cli.target import Target
from tidemark.run.run_outcome import planned_outcome
from tidemark.store import keys
from tidemark.store.bucket import Damaged
from tidemark.store.run_objects import finished_tests, record

PLAN = planned(["9.0.0"], repetitions=3)
# Each trial has two tests of 5 s, which start 6 s apart, and the next trial starts 12 s later.
DECLARED_SECONDS = 3.22 + 2.7
END = STARTED + timedelta(seconds=12 * 3 + 11 + 4)


def test_the_pace_of_a_run_is_that_of_its_tests_and_what_is_beside_them():
    pace = measured_pace(PLAN, measured(PLAN), END, at_once=2)

    assert pace == Pace(pytest.approx(10 / DECLARED_SECONDS), beside=2, before=12, after=4)
    assert pace.trial_seconds(PLAN.request, PLAN.suite, at_once=2) == pytest.approx(12)
    assert pace.seconds(PLAN.request, PLAN.suite, at_once=2) == pytest.approx(3 * 12 + 12 + 4)


def test_a_pause_between_the_trials_of_a_resumed_run_is_no_part_of_its_pace():
    plan = planned(["9.0.0"], repetitions=4)
    *others, last = measured(plan)
    paused = last.model_copy(update={"tests": tuple(map(an_hour_later, last.tests))})

    assert measured_pace(plan, [*others, paused], END, at_once=2).beside == 2


def an_hour_later(test):
    times = {name: getattr(test, name) + timedelta(hours=1) for name in ("started_at", "ended_at")}
    return test.model_copy(update=times)


def test_one_trial_does_not_tell_the_time_between_trials():
    assert measured_pace(PLAN, measured(PLAN)[:1], END, at_once=2).beside == DECLARED.beside


def test_failed_trials_and_tests_have_no_pace():
    trials = [failed(trial) for trial in measured(PLAN)]

    assert measured_pace(PLAN, trials, END, at_once=2) is None
    assert pace_of_tests(PLAN, trials[0].tests, at_once=2) is None


def test_larger_parameters_and_more_tasks_than_cores_scale_the_measured_times():
    pace = Pace(tests=2, beside=1, before=0, after=0)
    large = planned(["9.0.0"], repetitions=1, records=2_000_000, tasks=4)

    declared = (1.5 + 2 * 4.3 * 2) + (1.5 + 5 * 1.2 * 2)
    seconds = pace.trial_seconds(large.request, large.suite, at_once=2)
    assert seconds == pytest.approx(2 * 2 * declared + 1)


def test_a_first_run_takes_about_its_declared_time_and_longer_on_a_busy_machine():
    idle, busy = forecast([]), forecast([], slowness=2.0)

    assert idle.fast < DECLARED < idle.slow
    assert busy.fast == idle.fast
    assert busy.slow == idle.slow.times(2.0)
    assert forecast([], slowness=0.5).fast == idle.fast.times(0.5)


def test_a_run_is_as_fast_as_the_newest_one_or_as_the_fastest_one_slowed_by_todays_load():
    newest, fastest = Pace(2, 1, 1, 1), Pace(1, 1, 1, 1)

    assert forecast([newest, fastest], slowness=1.0)[:2] == (fastest, newest)
    assert forecast([fastest, newest], slowness=3.0)[:2] == (fastest, fastest.times(3))
    assert forecast([fastest], slowness=0.9)[:2] == (fastest, fastest)


NEWER = RUN.replace("20261120", "20261121")


@pytest.fixture
def bucket():
    return FakeBucket()


def stored(bucket, name, repetitions, seconds=60):
    plan = planned(["9.0.0"], repetitions, name=name)
    trials = measured(plan)
    outcome = planned_outcome(plan, trials, set(), "arn:x", STARTED + timedelta(seconds=seconds))
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


def test_the_time_after_a_long_run_begins_at_the_end_of_its_last_trial(bucket):
    stored(bucket, RUN, repetitions=12, seconds=160)

    (pace,) = earlier_paces(bucket, "rocksdb", at_once=2)

    assert pace.after == 160 - (12 * 12 + 11)


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


FAST, SLOW = Expected(trial=5, before=2, after=3), Expected(trial=15, before=2, after=3)
TWICE = planned(["9.0.0"], repetitions=2)


def left(recorded, total, elapsed, fast=FAST, slow=FAST):
    return told(recorded, total, elapsed, fast, slow).partition(", left ")[2]


def told(recorded, total, elapsed, fast=FAST, slow=FAST):
    return countdown(recorded, total - len(recorded), elapsed, fast, slow)


def test_the_time_that_is_left_counts_down_during_a_trial():
    assert told([], 2, 1) == "elapsed 1.0 s, left about 14 s"
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
    assert told([10, 20], 2, 24) == "elapsed 24 s"


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
    monkeypatch.setattr("tidemark.cli.forecast.slowness", lambda *_: 1.0)
    bucket = FakeBucket()
    return Outlook(bucket, TWICE, Target(Path(), None)), bucket


def finish(bucket, test):
    """Store the result of a test of the first trial."""
    key = keys.measured(TWICE.run_id, TWICE.trials[0].trial, test.test)
    bucket.write(key, test.model_dump_json().encode())


def test_the_first_finished_test_makes_the_outlook_exact(first_run):
    outlook, bucket = first_run
    trial, (ingest, compaction) = TWICE.trials[0], measured(TWICE)[0].tests
    unknown = outlook.bounds(trial, now=0.0)
    finish(bucket, ingest)  # it took 5 s, and its declared time is 3.22 s

    asked_too_early = outlook.bounds(trial, now=1.9)
    fast, slow = outlook.bounds(trial, now=2.0)

    assert asked_too_early == unknown
    assert unknown[0].trial < unknown[1].trial
    declared = 5 / 3.22 * (3.22 + 2.7)
    assert (fast.trial, slow.trial) == pytest.approx((declared + 0.8 * 0.5, declared + 0.8 * 1.4))
    longer = compaction.ended_at + timedelta(seconds=5)
    finish(bucket, compaction.model_copy(update={"ended_at": longer}))
    assert outlook.bounds(trial, now=4.0)[0].trial == pytest.approx(15 + 0.8 * 0.5)


def test_nobody_asks_for_the_tests_of_a_first_trial_that_is_finished(first_run):
    outlook, bucket = first_run
    for test in measured(TWICE)[0].tests:
        finish(bucket, test)
    exact = outlook.bounds(TWICE.trials[0], now=0.0)
    bucket.delete(keys.work(TWICE.run_id))

    assert outlook.bounds(TWICE.trials[1], now=9.0) == exact
