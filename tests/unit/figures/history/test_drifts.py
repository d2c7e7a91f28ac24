"""Drifts in histories: a level that moves a little at each release."""

import math
import random

import pytest

from tests.unit.figures.history.test_change_points import level
from tidemark.figures.history.change_points import change_points
from tidemark.figures.history.levels import without_drifts


def drifting(chance, slope, count, flat=0, scatter=0.005):
    return [
        100 * math.exp(slope * max(0, index - flat) + chance.gauss(0, scatter))
        for index in range(flat + count)
    ]


def judged(values):
    return without_drifts(values, change_points(values))


@pytest.mark.parametrize("slope", [-0.01, -0.005, -0.002, 0.002, 0.005, 0.01])
@pytest.mark.parametrize("count", [40, 60, 120])
def test_a_drift_blames_no_version(slope, count):
    chance = random.Random(1)
    for _ in range(10):
        steps, (drift,) = judged(drifting(chance, slope, count))

        assert steps == []
        assert drift.each == pytest.approx(math.expm1(slope), rel=0.25)


def test_a_drift_has_its_first_release_and_its_whole_size():
    steps, (drift,) = judged(drifting(random.Random(1), -0.005, 60, flat=30))

    assert steps == []
    assert abs(drift.first - 30) <= 3
    assert drift.last == 89
    assert drift.after / drift.before - 1 == pytest.approx(-0.26, abs=0.02)


def test_stairs_are_steps():
    chance = random.Random(1)
    for _ in range(20):
        values = [value for middle in (100, 110, 121) for value in level(chance, 15, middle)]

        steps, drifts = judged(values)

        assert ([step.index for step in steps], drifts) == ([15, 30], [])


def test_a_step_behind_a_drift_keeps_its_version():
    values = drifting(random.Random(1), 0.005, 60)
    values += [140.0 * value / values[0] for value in drifting(random.Random(2), 0, 30)]

    steps, drifts = judged([value * (1 if n < 60 else 1.3) for n, value in enumerate(values)])

    assert [step.index for step in steps] == [60]
    assert len(drifts) == 1


def test_a_metric_that_begins_at_zero_drifts_by_amounts():
    chance = random.Random(1)
    values = [max(0.0, 0.5 * (index - 20) + chance.gauss(0, 0.3)) for index in range(60)]

    steps, (drift,) = judged(values)

    assert steps == []
    assert drift.each == pytest.approx(0.5, abs=0.1)
