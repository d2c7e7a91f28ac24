from collections import Counter
from datetime import UTC, datetime

from suites.files import read_suites
from suites.plan import make_plan, run_id
from suites.request import settle

SUITES = read_suites()
START = datetime(2026, 11, 20, 12, 44, 55, 123000, tzinfo=UTC)


def plan(name="20261120T124455Z-abcdef", **asked):
    request = settle({"suite": "rocksdb", **asked}, SUITES)
    return make_plan(request, SUITES["rocksdb"], name=name, execution_arn="arn:x", started_at=START)


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

    assert run_id("a", START).startswith("20261120T124455Z-")
    assert run_id(asked, START) == run_id(dict(reversed(asked.items())), START)
    assert len({run_id("a", START), run_id("b", START), run_id(asked, START)}) == 3


def test_a_plan_says_what_the_run_is_expected_to_take():
    assert plan(repetitions=2).estimate.usd > plan(repetitions=1).estimate.usd
