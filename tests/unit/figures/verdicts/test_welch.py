"""The change between versions of different runs."""

import math

import pytest

from tidemark.figures.verdicts.welch import APART, judge_apart


def test_versions_of_different_runs_have_a_change_with_its_interval_and_no_verdict():
    judgement = judge_apart([1000.0] * 9 + [1001.0], [500.0] * 9 + [501.0])

    assert (judgement.word, judgement.reason) == ("cannot tell", APART)
    assert judgement.effect == pytest.approx(-0.5, abs=1e-3)
    assert -0.51 < judgement.low < judgement.effect < judgement.high < -0.49


def test_the_interval_is_that_of_welch():
    # By hand: both sides have the standard deviation 0.01 of the logarithm and 3 trials, which
    # gives 4 degrees of freedom, with t 2.776, and the standard error 0.01 sqrt(2 / 3).
    side = [math.exp(value) for value in (-0.01, 0.0, 0.01)]

    judgement = judge_apart(side, [2 * rate for rate in side])

    half = math.log1p(judgement.high) - math.log(2)
    assert half == pytest.approx(2.776 * 0.01 * math.sqrt(2 / 3), rel=1e-3)


@pytest.mark.parametrize(("base", "new"), [([1.0], [2.0]), ([1.0, 1.1], [2.0])])
def test_a_side_of_one_trial_has_a_change_and_no_interval(base, new):
    judgement = judge_apart(base, new)

    assert judgement.effect is not None
    assert (judgement.low, judgement.high) == (None, None)


@pytest.mark.parametrize("rates", [[], [0.0, 1.0], [-1.0, -2.0]])
def test_rates_without_a_logarithm_have_no_change(rates):
    assert judge_apart([1.0, 2.0], rates).effect is None
    assert judge_apart(rates, [1.0, 2.0]).effect is None
