"""Verdicts on the trials of two versions."""

import random

import pytest

from tidemark.figures.verdict import judge_change


@pytest.mark.parametrize(
    ("base", "new", "word"),
    [
        ([1000, 1000], [999.99, 999.99], "same"),
        ([1000, 1000], [951, 951], "same"),
        ([1000, 1000], [949, 949], "slower"),
        ([1000, 1001, 1002], [1020, 1021, 1022], "same"),
        ([1000, 1010, 1020], [1040, 1050, 1060], "faster"),
        ([1000, 1030, 1060], [1010, 1040, 1070], "cannot tell"),
    ],
)
def test_the_verdict_follows_from_the_interval_of_the_change(base, new, word):
    assert judge_change(base, new, "higher").word == word


@pytest.mark.parametrize(
    ("change", "scatter", "trials"),
    [(0.0, 0.05, 21), (0.02, 0.05, 25), (0.05, 0.05, 17), (0.1, 0.1, 19), (-0.3, 0.2, 6)],
)
def test_the_advised_trials_give_a_verdict_in_four_cases_of_five(change, scatter, trials):
    # Three rates at 1 and as far below as above it have this scatter.
    rates = [1.0 - scatter, 1.0, 1.0 + scatter]
    assert judge_change(rates, [(1 + change) * rate for rate in rates], "higher").trials == trials

    chance = random.Random(1)
    base, new = (
        [[mean * chance.gauss(1, scatter) for _ in range(trials)] for _ in range(500)]
        for mean in (1, 1 + change)
    )
    verdicts = [judge_change(*both, "higher").word for both in zip(base, new, strict=True)]
    assert 0.75 < 1 - verdicts.count("cannot tell") / len(verdicts) < 0.85


def test_rates_below_zero_have_no_verdict():
    for base, new in (([-10, -10.1], [-5, -5.1]), ([-1, 1.001], [1, 2]), ([1, 2], [-1, 1.001])):
        verdict = judge_change(base, new, "higher")
        assert (verdict.word, verdict.change, verdict.reason) == (
            "cannot tell",
            None,
            "a rate is below zero",
        )


def test_more_trials_are_advised_than_either_side_has():
    assert judge_change([1000, 1100, 900], [1300, 1050], "higher").trials > 3


def test_no_number_of_trials_is_advised_beyond_what_a_run_may_have():
    assert judge_change([1000, 1300, 700], [1000, 1310, 690], "higher").trials is None
