"""The slowdowns that runs find on a machine whose noise is known."""

import math
import random
from datetime import timedelta

import pytest

from tests.plans import plan_of
from tests.unit.measured_runs import planned
from tidemark.figures.calibration import DRAWS, found, noise, of_two, seconds_of_pair
from tidemark.figures.version_rates import quantities
from tidemark.model.results import NO_EXCLUSIONS, TaskResult, TestResult, TrialResult, no_rate
from tidemark.model.suite import MOST_REPETITIONS
from tidemark.model.suite_files import read_suites

SUITE = read_suites()["rocksdb"]


def calibrated(scatter, rounds=12):
    """Return the plan and the trials of a calibration whose rounds scatter by a share."""
    fields = {"versions": ["9.8.4"], "slowed": [0, 10], "repetitions": rounds}
    plan = plan_of(fields, suite=SUITE)
    chance = random.Random(3)
    return plan, [_trial(plan, trial, chance, scatter) for trial in plan.trials]


def _trial(plan, trial, chance, scatter):
    loss = plan.request.slowed.get(trial.version, 0) / 100
    began = plan.started_at + timedelta(seconds=10 * trial.repetition)
    tests = tuple(
        TestResult(
            test=test.name, status="ok", started_at=began, ended_at=began + timedelta(seconds=10),
            tasks=(TaskResult(index=0, status="ok", started_at=began, shared=3,
                              stopped_at=began + timedelta(seconds=3)),),
            rates=tuple(_rate(metric, loss, chance.gauss(0, scatter)) for metric in test.metrics),
        )
        for test in plan.suite.tests
    )  # fmt: skip
    return TrialResult(
        run_id=plan.run_id, **trial.model_dump(), status="ok", reason="", tests=tests
    )


def _rate(metric, loss, noise):
    factor = (1 - loss) * math.exp(noise)
    value = 1000 * factor if metric.direction == "higher" else 1000 / factor
    return no_rate(metric, "mean", {}).model_copy(update={"value": value, "slices": (value,) * 5})


def of(metric, plan, trials):
    return next(each for each in quantities(plan, trials) if each.metric.name == metric)


@pytest.mark.parametrize("metric", ["ingest_engine_rate", "compaction_cpu"])
def test_what_is_left_of_a_slowed_version_beside_its_true_change_is_the_noise(metric):
    plan, trials = calibrated(scatter=0.0)

    left = noise(plan, trials, NO_EXCLUSIONS, of(metric, plan, trials))

    assert left == pytest.approx(2 * 12 * [0], abs=1e-9)


def test_longer_runs_and_quieter_machines_find_smaller_changes():
    (plan, trials), (_, noisy) = calibrated(scatter=0.01), calibrated(scatter=0.05)
    quantity = of("ingest_engine_rate", plan, trials)
    quiet, loud = (noise(plan, each, NO_EXCLUSIONS, quantity) for each in (trials, noisy))

    short, long = (found(plan, quantity, quiet, rounds) for rounds in (12, 40))
    assert long.smallest <= short.smallest <= 0.1
    assert found(plan, quantity, loud, 12).smallest > short.smallest
    assert long.false_alarms <= 3 / DRAWS


def test_a_run_that_is_too_short_for_a_verdict_finds_nothing():
    plan, trials = calibrated(scatter=0.01)
    quantity = of("ingest_engine_rate", plan, trials)

    assert found(plan, quantity, noise(plan, trials, NO_EXCLUSIONS, quantity), 4).smallest is None


def test_a_round_of_two_versions_takes_its_share_of_the_tasks_of_a_round_of_more():
    plan, trials = calibrated(scatter=0.0)

    # Twelve rounds in 130 s, each with two tasks of 3 s that three versions share.
    assert seconds_of_pair(plan, trials) == pytest.approx(130 / 12 - 6 + 6 * 2 / 3)


def test_a_calibration_of_two_versions_draws_the_longest_runs_of_the_first_two():
    request = of_two(planned(["8.8.1", "9.0.0", "9.8.4"], repetitions=5)).request

    assert [*request.versions] == ["8.8.1", "9.0.0"]
    assert request.repetitions == MOST_REPETITIONS
