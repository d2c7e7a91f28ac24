from collections import Counter

from suites.plan import run_id
from tests.plans import RUN, STARTED, plan_of


def plan(name=RUN, **asked):
    return plan_of(asked, name=name)


def test_each_version_is_measured_once_in_each_repetition():
    trials = plan(repetitions=4).trials

    assert Counter((trial.version, trial.repetition) for trial in trials) == Counter(
        {(version, n): 1 for version in ("8.8.1", "9.0.0", "9.8.4") for n in (1, 2, 3, 4)}
    )
    assert [trial.trial for trial in trials] == list(range(1, 13))


def test_repetitions_follow_each_other_so_that_versions_take_turns():
    assert [trial.repetition for trial in plan(repetitions=3).trials] == [1] * 3 + [2] * 3 + [3] * 3


def test_the_order_of_versions_differs_between_runs_and_not_between_plans_of_one():
    orders = {
        tuple(trial.version for trial in plan(f"20261120T124455Z-{n:06x}").trials)
        for n in range(20)
    }

    assert plan() == plan()
    assert len(orders) > 5


def test_a_trial_knows_the_package_that_carries_its_version():
    assert plan(versions=["9.0.0"], repetitions=1).trials[0].package == "rocksdict==0.3.23"


def test_a_run_is_named_by_its_start_and_by_what_marks_it():
    asked = {"suite": "rocksdb", "tasks": 1}

    assert run_id("a", STARTED).startswith("20261120T124455Z-")
    assert run_id(asked, STARTED) == run_id(dict(reversed(asked.items())), STARTED)
    assert len({run_id("a", STARTED), run_id("b", STARTED), run_id(asked, STARTED)}) == 3


def test_a_plan_says_what_the_run_is_expected_to_take():
    assert plan(repetitions=2).estimate.usd > plan(repetitions=1).estimate.usd
