"""Versions that fail twice alike, and queries that match no line."""

from dataclasses import replace

import pytest

from tests.plans import RUN
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import failed, measured, planned
from tests.unit.run.test_choose_trial import BASE, NEW, Measuring
from tidemark.run.choose_trial import ChooseTrialEvent, choose
from tidemark.store import keys

BAD, GOOD = "9.8.4", "8.8.1"


class Choosing:
    """A run whose trials are recorded as soon as they are chosen."""

    def __init__(self, plan, change):
        self.plan, self.change, self.failures = plan, change, None
        self.bucket = FakeBucket({keys.plan(RUN): plan.model_dump_json().encode()})
        self.trials = {each.trial: each for each in measured(plan)}
        self.measured = []

    def choose(self):
        event = ChooseTrialEvent(run_id=RUN, execution_arn="arn:x", failures=self.failures)
        choice = choose(self.bucket, event)
        self.failures = choice.failures
        return choice

    def go_on(self):
        """Measure trials until none is chosen; return the last choice."""
        while (choice := self.choose()).rounds:
            for number in (number for each in choice.rounds for number in each.trials):
                trial = self.change(self.trials[number])
                self.measured.append(trial.version)
                self.bucket.write(keys.trial(RUN, number), trial.model_dump_json().encode())
        return choice


def broken(reasons):
    """Return a function that makes each trial of a version fail, with these reasons in turn."""
    left = iter(reasons)
    return lambda trial: failed(trial, next(left)) if trial.version == BAD else trial


ALIKE = [f"task 0 ({n}a1b{n}) ended with exit code 1 after {n}.5 s" for n in range(9)]


def test_two_trials_that_fail_alike_end_the_measurement_of_their_version():
    run = Choosing(planned([GOOD, BAD], repetitions=6), broken(ALIKE))

    last = run.go_on()

    assert (run.measured.count(GOOD), run.measured.count(BAD)) == (6, 2)
    assert last.cut_short == (
        f"versions: the other trials are left out of {BAD}, since two failed alike (ingest: "
        f"{ALIKE[1]}); keep_going measures them, and a resume tries them again"
    )


@pytest.mark.parametrize(
    "reasons",
    [
        ["exit code 1", "out of memory"] * 3,
        ["its container ended with exit code 1: a", "its container ended with exit code 3: a"] * 3,
        ALIKE,
    ],
)
def test_failures_of_different_causes_or_with_keep_going_stop_no_version(reasons):
    keep_going = reasons is ALIKE
    run = Choosing(planned([GOOD, BAD], repetitions=6, keep_going=keep_going), broken(reasons))

    assert (run.go_on().cut_short, run.measured.count(BAD)) == (None, 6)


def test_a_stopped_baseline_ends_the_measurement_of_what_is_compared_with_it():
    plan = planned([GOOD, BAD], repetitions=6, baseline=BAD)
    run = Choosing(plan, broken(ALIKE))

    last = run.go_on()

    assert (run.measured.count(GOOD), run.measured.count(BAD)) == (1, 2)
    assert f"left out of {BAD}, since two failed alike" in last.cut_short
    assert ", and of the versions that are compared with the baseline; keep_going" in last.cut_short


def test_a_good_trial_between_two_equal_failures_goes_on():
    plan = planned([BAD], repetitions=5)
    run = Choosing(plan, lambda trial: failed(trial) if trial.trial in {1, 3, 5} else trial)

    assert (run.go_on().cut_short, len(run.measured)) == (None, 5)


def test_a_resumed_run_tries_a_stopped_version_again():
    run = Choosing(planned([GOOD, BAD], repetitions=6), broken(ALIKE))
    run.go_on()
    run.failures, run.change = None, lambda trial: trial

    assert (run.go_on().cut_short, run.measured.count(BAD)) == (None, 6)


def test_a_run_until_decided_goes_on_without_the_stopped_version():
    run = Measuring({NEW: 0, BAD: 0})
    run.failing = {BAD}

    last = run.go_on()

    assert run.words(NEW) == {("same", "first")}
    assert [BAD in versions for versions in run.repetitions()][:3] == [True, True, False]
    assert f"left out of {BAD}, since" in last.cut_short
    assert run.outcome().status == "incomplete"


@pytest.mark.parametrize(
    "request_fields", [{}, {"bisect": {"base": BASE, "new": NEW, "metric": "ingest_rate"}}]
)
def test_a_run_whose_baseline_is_stopped_ends(request_fields):
    run = Measuring({NEW: 0}, **request_fields)
    run.failing = {BASE}

    assert f"left out of {BASE}, since" in run.go_on().cut_short
    assert len(run.repetitions()) == 2


def silent(trial):
    """Return a trial in which the query of its first test's metric found no line."""
    first, *rest = trial.tests
    rates = tuple(each.model_copy(update={"samples": 0, "value": None}) for each in first.rates)
    reason = "task 0 (0a1b) logged 0 of 2 lines of ingest_rate"
    changes = {"status": "incomplete", "reason": reason, "rates": rates, "samples": ()}
    tests = (first.model_copy(update=changes), *rest)
    return trial.model_copy(update={"status": "incomplete", "reason": reason, "tests": tests})


def test_a_query_without_a_line_in_the_first_trial_ends_the_run():
    run = Choosing(planned([GOOD], repetitions=6), silent)

    assert run.go_on().cut_short == (
        f"query: ingest_rate of ingest matches none of the lines that trial 1 ({GOOD}) logged into "
        "/Tidemark/rocksdb; mend the query, or give keep_going to measure all trials"
    )
    assert len(run.measured) == 1


def without_logs(trial):
    first, *rest = silent(trial).tests
    return silent(trial).model_copy(
        update={"tests": (first.model_copy(update={"environments": ()}), *rest)}
    )


def with_a_crash(trial):
    first, *rest = silent(trial).tests
    tasks = tuple(replace(task, status="failed") for task in first.tasks)
    return silent(trial).model_copy(
        update={"tests": (first.model_copy(update={"tasks": tasks}), *rest)}
    )


@pytest.mark.parametrize("change", [without_logs, with_a_crash])
def test_lines_that_are_lost_or_not_logged_say_nothing_on_a_query(change):
    run = Choosing(planned([GOOD], repetitions=6), change)

    assert run.go_on().cut_short.startswith("versions: ")
    assert len(run.measured) == 2


def test_a_query_that_has_matched_before_is_not_wrong():
    plan = planned([GOOD], repetitions=3)
    run = Choosing(plan, lambda trial: silent(trial) if trial.trial == 2 else trial)

    assert (run.go_on().cut_short, len(run.measured)) == (None, 3)
