"""Repeated recording changes nothing: killed at any moment, in any order, or several at once."""

import contextlib
import gzip
import io
import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, count, repeat

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

from lambdas import (
    choose_trial,
    clean_up_trial,
    publish_report,
    record_outcome,
    record_rates,
    record_trial,
)
from tidemark.model.results import Rate, Sample, TaskResult, TestResult
from tidemark.store import keys

EXECUTION = "arn:aws:states:eu-west-2:1:execution:Run:by-hand"
FAILURE = {"Error": "States.Timeout", "Cause": "no reason"}
SECONDS = [f"2026-11-20T13:00:{second:02d}Z" for second in range(60)]


class Killed(BaseException):
    """A function that timed out or lost its machine."""


def measured(test, jobs):
    metric = f"{test}_rate"
    return TestResult(
        test=test,
        status="ok",
        started_at="2026-11-20T12:45:00Z",
        ended_at="2026-11-20T12:46:00Z",
        tasks=tuple(
            TaskResult(index=n, status="ok", task_arn=f"arn:task/c/t{n}", exit_code=0)
            for n in range(2)
        ),
        rates=(
            Rate(
                metric=metric, unit="records/s", direction="higher", value=150.0, samples=2 * jobs,
                expected=2 * jobs, not_finite=0, stddev=1.0, min=100.0, max=200.0, records=None,
            ),
        ),
        samples=tuple(
            Sample(
                metric=metric, log_stream=f"rocksdb/rocksdb/t{n % 2}", job=None, records=None,
                logged_at="2026-11-20 12:45:59.000", value_text=f"{n}.5", value=n + 0.5,
            )
            for n in range(2 * jobs)
        ),
    )  # fmt: skip


class Recording:
    """The steps after the tasks of a run's two trials; the second trial is lost half-way."""

    def __init__(self, world, plan):
        self.world, run = world, {"run_id": plan.run_id}
        trial = {**run, "trial": 1}
        world.bucket.objects |= {
            f"{keys.data(plan.run_id, 1)}a.sst": b"1",
            f"{keys.data(plan.run_id, 1)}b.sst": b"1",
            f"{keys.data(plan.run_id, 2)}a.sst": b"2",
        }
        for n, test, jobs in ((1, "ingest", 1), (1, "compaction", 4), (2, "ingest", 1)):
            body = measured(test, jobs).model_dump_json().encode()
            world.bucket.objects[keys.measured(plan.run_id, n, test)] = body
        self.before = dict(world.bucket.objects)
        self.outcome = keys.outcome(plan.run_id)
        self.exclusion = keys.exclusion(plan.run_id, 1)
        self.steps = (
            (clean_up_trial, trial),
            (record_trial, {**trial, "failure": None}),
            (choose_trial, {**run, "execution_arn": EXECUTION, "lost": []}),
            (
                choose_trial,
                {
                    **run,
                    "execution_arn": EXECUTION,
                    "lost": [{"trial": 2, "failure": FAILURE}],
                },
            ),
            (record_rates, run),
            (publish_report, run),
            (
                record_outcome,
                {
                    **run,
                    "execution_arn": EXECUTION,
                    "execution_name": "by-hand",
                    "started_at": "2026-11-20T12:44:55.123Z",
                    "input": {"suite": "rocksdb"},
                    "failure": None,
                },
            ),
        )
        self.known = {}
        self.begin()

    def begin(self, **more):
        """Reset the bucket to the start of the recording, with ``more`` in it."""
        self.world.bucket = type(self.world.bucket)(self.before | more)
        self.clock = iter(SECONDS)
        self.printed = io.StringIO()

    @property
    def objects(self):
        return self.world.bucket.objects

    def call(self, number):
        """Run a step, at a later time than the call before."""
        module, event = self.steps[number]
        with contextlib.redirect_stdout(self.printed):
            self.world.call(module, {**event, "now": next(self.clock)})

    def call_killed(self, number, moment):
        """Run a step and kill it at its ``moment``; tell whether it came that far."""
        moments = iter(range(1, moment + 1))

        def live():
            if next(moments, moment) == moment:
                raise Killed

        self.world.bucket.moment = live
        try:
            self.call(number)
        except Killed:
            return True
        finally:
            self.world.bucket.moment = lambda: None
        return False

    def whole(self, kills=()):
        """Run every step; each of ``kills`` is the moment at which one attempt is killed."""
        moments = chain(kills, repeat(None))
        for number in range(len(self.steps)):
            while (moment := next(moments)) and self.call_killed(number, moment):
                pass
            if moment is None:
                self.call(number)

    def undisturbed(self, ended_at, **more):
        """Return the objects of an undisturbed recording that ends at this time."""
        case = ended_at, *more
        if case not in self.known:
            here = self.world.bucket, self.clock, self.printed
            self.begin(**more)
            self.clock = repeat(ended_at)
            self.whole()
            self.known[case] = self.objects
            self.world.bucket, self.clock, self.printed = here
        return self.known[case]

    def assert_as_undisturbed(self, **more):
        ended_at = json.loads(self.objects[self.outcome])["ended_at"]
        assert self.objects == self.undisturbed(ended_at, **more)
        assert not [key for key in self.objects if key.startswith("work/")]

    def metrics(self):
        """Return how often the rate of each test was sent to CloudWatch."""
        lines = [line for line in self.printed.getvalue().splitlines() if '"_aws"' in line]
        sent = [json.loads(line) for line in lines]
        return Counter(metric["test"] for metric in sent if "test" in metric)


@pytest.fixture
def recording(world, plan):
    return Recording(world, plan)


def at_once(bucket, calls, order):
    """Run calls at once, which take turns at every moment of the bucket.

    ``order`` has the unfinished call of each turn; after its end the calls take turns evenly.
    """
    turns = [threading.Semaphore(0) for _ in calls]
    back = threading.Semaphore(0)
    mine = threading.local()
    going = list(range(len(calls)))

    def moment():
        back.release()
        turns[mine.number].acquire()

    def run(number):
        mine.number = number
        turns[number].acquire()
        try:
            calls[number]()
        finally:
            going.remove(number)
            back.release()

    bucket.moment = moment
    with ThreadPoolExecutor(len(calls)) as executor:
        ended = [executor.submit(run, number) for number in range(len(calls))]
        drawn = chain(order, count())
        while going:
            turns[going[next(drawn) % len(going)]].release()
            back.acquire()
    bucket.moment = lambda: None
    for one in ended:
        one.result()


def test_an_undisturbed_recording_leaves_every_object_and_no_working_data(recording):
    recording.whole()

    recording.assert_as_undisturbed()
    folders = Counter(key.split("/")[0] for key in recording.objects)
    assert folders == {"runs": 4, "tables": 8, "reports": 4, "versions": 2, "history": 2}
    assert recording.metrics() == {"ingest": 1, "compaction": 1}


def test_a_step_killed_at_any_moment_and_retried_changes_nothing(recording):
    killed = 0
    for number in range(len(recording.steps)):
        moment, came_so_far = 0, True
        while came_so_far:
            moment += 1
            recording.begin()
            for earlier in range(number):
                recording.call(earlier)
            came_so_far = recording.call_killed(number, moment)
            for later in range(number, len(recording.steps)):
                recording.call(later)
            recording.assert_as_undisturbed()
            # A step that is killed after its write leaves a recorded trial without metrics.
            assert max(recording.metrics().values(), default=0) <= 1
            killed += came_so_far
    assert killed > 40


moments = st.lists(st.integers(1, 25), max_size=12)


@fuzz(60)
@given(kills=moments)
def test_a_recording_killed_repeatedly_ends_as_an_undisturbed_one(recording, kills):
    recording.begin()

    recording.whole(kills)

    recording.assert_as_undisturbed()
    assert max(recording.metrics().values(), default=0) <= 1


@fuzz(60)
@given(early=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 40)), max_size=8), again=moments)
def test_early_steps_whole_or_killed_do_not_change_the_recording(recording, early, again):
    recording.begin()

    for number, moment in early:
        recording.call_killed(number, moment)
    recording.whole(again)
    recording.whole()

    recording.assert_as_undisturbed()
    assert max(recording.metrics().values(), default=0) <= 1


# Each call goes on for several turns, so that one can overtake another.
orders = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 40)), max_size=5).map(
    lambda stretches: [call for call, moments in stretches for _ in range(moments)]
)


@fuzz(120)
@given(number=st.integers(0, 6), executions=st.integers(2, 3), order=orders)
def test_a_step_that_several_run_at_once_leaves_the_objects_of_one_run(
    recording, number, executions, order
):
    recording.begin()
    for earlier in range(number):
        recording.call(earlier)

    at_once(recording.world.bucket, [lambda: recording.call(number)] * executions, order)

    for later in range(number + 1, len(recording.steps)):
        recording.call(later)
    recording.assert_as_undisturbed()
    assert set(recording.metrics().values()) == {1}


@pytest.mark.parametrize("number", [4, 5])
def test_a_trial_excluded_at_any_moment_of_a_step_is_left_out_of_every_figure(recording, number):
    exclusion = {"excluded": True, "reason": "why", "at": "2026-11-20T12:59:00Z"}
    body = json.dumps(exclusion).encode()

    def exclude():
        recording.world.bucket.write(recording.exclusion, body)
        recording.call(4)
        recording.call(5)

    for moment in range(25):
        recording.begin()
        for earlier in range(number):
            recording.call(earlier)
        overtaken = chain(repeat(0, moment), repeat(1))
        at_once(recording.world.bucket, [lambda: recording.call(number), exclude], overtaken)
        recording.call(6)

        recording.assert_as_undisturbed(**{recording.exclusion: body})
        (table,) = [key for key in recording.objects if key.startswith("tables/rates/")]
        rows = map(json.loads, gzip.decompress(recording.objects[table]).splitlines())
        assert {row["trial"]: row["excluded"] for row in rows} == {1: True, 2: False}
