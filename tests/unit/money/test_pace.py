from datetime import timedelta

import pytest

from tests.plans import STARTED
from tests.unit.measured_runs import failed, measured, planned
from tidemark.money.pace import DECLARED, Pace, forecast, measured_pace, pace_of_tests

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
