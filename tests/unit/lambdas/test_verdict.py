"""What the trials of two versions tell."""

import random

import pytest

from lambdas.verdict import verdict


@pytest.mark.parametrize(
    ("base", "new", "said"),
    [
        ([1000, 1000], [999.99, 999.99], "same"),
        ([1000, 1000], [951, 951], "same"),
        ([1000, 1000], [949, 949], "slower"),
        ([1000, 1001, 1002], [1020, 1021, 1022], "same"),
        ([1000, 1010, 1020], [1040, 1050, 1060], "faster"),
        ([1000, 1030, 1060], [1010, 1040, 1070], "cannot tell"),
    ],
)
def test_a_change_that_is_small_for_sure_is_none_and_another_is_one_if_it_is_sure(base, new, said):
    assert verdict(base, new, "higher").said == said


@pytest.mark.parametrize(
    ("change", "scatter", "trials"),
    [(0.0, 0.05, 21), (0.02, 0.05, 25), (0.05, 0.05, 17), (0.1, 0.1, 19), (-0.3, 0.2, 6)],
)
def test_as_many_trials_as_are_advised_tell_in_four_cases_of_five(change, scatter, trials):
    # Three rates at 1 and as far below as above it have this scatter.
    told = [1.0 - scatter, 1.0, 1.0 + scatter]
    assert verdict(told, [(1 + change) * rate for rate in told], "higher").trials == trials

    chance = random.Random(1)
    base, new = (
        [[mean * chance.gauss(1, scatter) for _ in range(trials)] for _ in range(500)]
        for mean in (1, 1 + change)
    )
    verdicts = [verdict(*both, "higher").said for both in zip(base, new, strict=True)]
    assert 0.75 < 1 - verdicts.count("cannot tell") / len(verdicts) < 0.85


def test_of_what_is_below_zero_there_is_no_share():
    for base, new in (([-10, -10.1], [-5, -5.1]), ([-1, 1.001], [1, 2]), ([1, 2], [-1, 1.001])):
        told = verdict(base, new, "higher")
        assert (told.said, told.change, told.reason) == (
            "cannot tell",
            None,
            "a rate is below zero",
        )


def test_more_trials_are_advised_than_either_side_has():
    assert verdict([1000, 1100, 900], [1300, 1050], "higher").trials > 3


def test_no_number_of_trials_is_advised_where_a_run_may_not_have_as_many():
    assert verdict([1000, 1300, 700], [1000, 1310, 690], "higher").trials is None
