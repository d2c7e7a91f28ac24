"""The sizing table of a run, from trials of known figures."""

import pytest

from tests.plans import STARTED
from tests.unit.sized_runs import MEAN, sized_plan, sized_trials
from tidemark.figures.sizing import sizing
from tidemark.model.results import NO_EXCLUSIONS, Exclusion, Exclusions, TestResult


@pytest.fixture(scope="module")
def plan():
    return sized_plan()


def sized(plan, trials, exclusions=NO_EXCLUSIONS):
    return {row.size: row for row in sizing(plan, trials, exclusions)}


def test_the_smallest_size_that_holds_has_every_figure_within_its_bound(plan):
    rows = sized(plan, sized_trials(plan))

    assert list(rows) == ["half", "one", "two"]
    assert [row.holds for row in rows.values()] == [False, True, True]
    assert [row.smallest for row in rows.values()] == [False, True, False]
    mean, p99, users = rows["half"].figures
    assert (mean.value, mean.bound, mean.labels) == (240.0, 100, '{"operation": "slow"}')
    assert (p99.figure.name, p99.holds) == ("latency p99", True)
    assert (users.value, users.bound, users.holds) == (8.0, 12.0, False)


def test_a_size_has_the_greatest_share_of_its_memory_that_its_service_used(plan):
    rows = sized(plan, sized_trials(plan))

    used = [row.memory_used for row in rows.values()]
    assert used == pytest.approx([950 / 1024, 1400 / 2048, 1500 / 4096])


def test_a_size_with_a_failed_trial_does_not_hold_unless_it_is_excluded(plan):
    trials = sized_trials(plan)
    place = next(at for at, trial in enumerate(trials) if trial.axes["size"] == "one")
    failed = [TestResult(test="bounded", status="failed", reason="the server ended")]
    trials[place] = trials[place].model_copy(update={"tests": tuple(failed), "status": "failed"})
    excluded = Exclusion(excluded=True, reason="noise", at=STARTED)

    rows = sized(plan, trials)
    without = sized(plan, trials, Exclusions({f"{trials[place].trial:03d}": excluded}))

    assert not rows["one"].holds
    assert rows["one"].figures[0].value is None
    assert rows["two"].smallest
    assert without["one"].smallest


def test_a_size_does_not_hold_if_a_trial_lacks_its_figure_under_one_label(plan):
    trials = sized_trials(plan)
    place = next(at for at, trial in enumerate(trials) if trial.axes["size"] == "one")
    tests = [
        test.model_copy(
            update={"rates": tuple(r for r in test.rates if r.labels.get("operation") != "fast")}
        )
        for test in trials[place].tests
    ]
    trials[place] = trials[place].model_copy(update={"tests": tuple(tests)})

    rows = sized(plan, trials)

    assert (rows["one"].figures[0].value, rows["one"].holds) == (None, False)
    assert rows["two"].smallest


def test_no_size_is_the_smallest_if_none_holds(plan):
    slow = dict.fromkeys(MEAN, 101.0)

    rows = sized(plan, sized_trials(plan, slow))

    assert not any(row.smallest or row.holds for row in rows.values())
