"""The d of one round, from the slices of two versions."""

import math

import pytest

from tests.checks.bench.round_means import NOISES, hodges_lehmann, rows, trimmed
from tidemark.figures.verdicts.pairs import round_difference

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
