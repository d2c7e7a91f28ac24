"""Two levels of values."""

import random

import pytest

from tidemark.figures.two_levels import FEWEST, two_levels

MARGIN = 0.03
# Sleeper's ten tasks: six wrote some 300,000 records/s, four some 180,000.
SLEEPER = [300e3, 302e3, 181e3, 298e3, 179e3, 301e3, 299e3, 182e3, 178e3, 303e3]


def alarms(values, count, runs=300):
    """Return the share of runs with two levels."""
    found = [two_levels([values() for _ in range(count)], MARGIN) for _ in range(runs)]
    return sum(levels is not None for levels in found) / runs


def test_sleepers_ten_tasks_have_two_levels():
    levels = two_levels(SLEEPER, MARGIN)

    assert levels.low == (178e3, 179e3, 181e3, 182e3)
    assert len(levels.high) == 6
    assert [levels.is_high(value) for value in SLEEPER[:3]] == [True, True, False]


def test_levels_without_any_scatter_are_two():
    levels = two_levels([300e3] * 6 + [180e3] * 4, MARGIN)

    assert (len(levels.low), len(levels.high)) == (4, 6)


def test_a_single_value_far_apart_is_a_level():
    assert two_levels([100, 101, 99, 100.5, 99.5, 100, 100.2, 60], MARGIN).low == (60,)


@pytest.mark.parametrize("count", [6, 10, 20, 60])
def test_values_of_one_level_seldom_have_two(count):
    chance = random.Random(1)

    assert alarms(lambda: chance.gauss(100, 10), count) <= 0.01
    assert alarms(lambda: chance.lognormvariate(5, 0.2), count) <= 0.02
    assert alarms(lambda: chance.uniform(80, 120), count) <= 0.03


def test_levels_nearer_than_the_margin_are_one():
    near = [100.0] * 5 + [102.0] * 5

    assert two_levels(near, MARGIN) is None
    assert two_levels(near, 0.01)


def test_few_or_equal_values_have_one_level():
    assert two_levels(SLEEPER[: FEWEST - 1], MARGIN) is None
    assert two_levels([5.0] * 10, MARGIN) is None
    assert two_levels([0.0] * 10, MARGIN) is None
