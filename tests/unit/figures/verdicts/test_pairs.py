"""Pairs of trials, their mean and scatter, and the d of a round."""

import math
import random
import statistics

import pytest

from tests.checks.bench.round_means import NOISES, hodges_lehmann, rows, trimmed
from tidemark.figures.verdicts.pairs import Pairs, round_difference

BASE = [100.0, 104.0, 98.0, 120.0, 101.0, 99.0]


def test_a_round_in_which_each_slice_changed_alike_has_that_change():
    assert round_difference(BASE, [0.9 * rate for rate in BASE]) == pytest.approx(math.log(0.9))


def test_pauses_in_two_slices_of_six_do_not_move_a_round():
    paused = [0.9 * rate / (5 if block in {1, 4} else 1) for block, rate in enumerate(BASE)]

    assert round_difference(BASE, paused) == pytest.approx(math.log(0.9))


def test_a_round_with_the_versions_swapped_has_the_opposite_difference():
    new = [91.0, 99.0, 97.0, 90.0, 100.0]

    assert round_difference(new, BASE) == -round_difference(BASE, new)


def test_a_block_that_one_version_alone_measured_does_not_count():
    assert round_difference(BASE[:3], [*BASE[:3], 1.0, 1.0, 1.0, 1.0]) == 0


@pytest.mark.parametrize("slices", [([], BASE), ([100.0, 0.0], [100.0, 100.0])])
def test_a_round_without_a_block_or_with_a_rate_of_zero_has_no_difference(slices):
    with pytest.raises(ValueError, match=r"block|math"):
        round_difference(*slices)


def test_the_benchmark_has_a_row_for_each_noise_and_knows_the_textbook_means():
    assert trimmed([1, 2, 3, 4, 100]) == 3
    assert hodges_lehmann([1.0, 2.0, 6.0]) == pytest.approx(2.75)
    assert len(list(rows(3))) == 3 * len(NOISES)


STEADY = [-0.21, -0.24, -0.2, -0.25, -0.22, -0.19, -0.23, -0.26, -0.21, -0.22, -0.2]


def test_a_pair_that_is_off_by_a_factor_of_two_is_left_out():
    pairs = Pairs.of([*STEADY[:4], math.log(2) - 0.22, *STEADY[4:]])

    assert pairs.outliers == [4]
    assert (pairs.estimate.count, pairs.estimate.kept) == (12, 11)
    assert pairs.estimate.mean == pytest.approx(statistics.fmean(STEADY))
    assert pairs.estimate.deviation == pytest.approx(statistics.stdev(STEADY))


def test_one_pair_of_each_twelve_is_left_out_at_most():
    twelve, thirteen = [*STEADY[:9], 1, 2, 3], [*STEADY[:10], 1, 2, 3]

    assert Pairs.of(twelve).outliers == [11]
    assert Pairs.of(thirteen).outliers == [11, 12]


def test_seven_pairs_do_not_know_which_of_them_is_off():
    assert Pairs.of([*STEADY[:6], 1]).outliers == []
    # It counts, and it can be named.
    assert Pairs.of([*STEADY[:6], 1]).odd == 6
    assert Pairs.of([*STEADY[:3], 1]).odd is None


def test_normal_pairs_are_seldom_left_out():
    chance = random.Random(1)
    drawn = [Pairs.of(chance.gauss(0, 1) for _ in range(12)) for _ in range(1000)]

    assert sum(bool(pairs.outliers) for pairs in drawn) <= 5


def test_pairs_that_resemble_the_one_before_have_a_greater_error():
    chance, errors, means = random.Random(1), [], []
    for _ in range(400):
        pair, drawn = chance.gauss(0, 1), []
        for _ in range(60):
            drawn.append(pair)
            pair = 0.5 * pair + chance.gauss(0, math.sqrt(0.75))
        errors.append(Pairs.of(drawn).estimate.error)
        means.append(Pairs.of(drawn).estimate.mean)

    # As if the pairs were independent, the error would be 1.7 times too small.
    assert statistics.fmean(errors) == pytest.approx(statistics.stdev(means), rel=0.15)


def test_pairs_that_alternate_have_the_error_of_independent_pairs():
    assert Pairs.of([0.1, 0.3] * 5).estimate.inflation == 1


def test_no_pair_has_no_mean_and_no_scatter():
    assert (Pairs().estimate.mean, Pairs().estimate.error, Pairs.of([0.1]).estimate.error) == (
        0,
        0,
        0,
    )
