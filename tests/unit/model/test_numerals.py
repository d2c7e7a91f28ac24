"""Numbers as texts."""

import pytest

from tidemark.model.numerals import bound, delta, figure, percent, percent_places, supported


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.1686, "16.86 %"),
        (-0.0361, "−3.61 %"),
        (0.0, "0.00 %"),
        (-0.00004, "0.00 %"),
        (123.4, "12,340.00 %"),
        (float("-inf"), "−inf %"),
    ],
)
def test_a_percentage_has_a_true_minus_and_a_space(share, text):
    assert percent(share) == text


def test_a_percentage_has_the_requested_places():
    assert percent(0.05, places=0) == "5 %"


@pytest.mark.parametrize(("share", "text"), [(0.03, "3 %"), (0.07, "7 %"), (0.0025, "0.25 %")])
def test_a_chosen_share_has_no_needless_digits(share, text):
    assert bound(share) == text


@pytest.mark.parametrize(
    ("value", "spread", "texts"),
    [
        (1_857_213.0, 611_044.0, ("1.86 M", "0.61 M")),
        (399_726.5, 27_983.0, ("400 k", "28 k")),
        (9_812.0, 123.0, ("9,810", "120")),
        (0.01234, 0.00056, ("0.01234", "0.00056")),
        (12_000.0, 250_000.0, ("10 k", "250 k")),
        (1.0e160, 2.5e158, ("1.000e+160", "2.5e+158")),
        (734_306.64, None, ("734.3 k", "")),
        (1_010.0, None, ("1,010", "")),
        (1_000.0, 1e-13, ("1,000.00", "0.00")),
        (1_000.0, 0.0, ("1,000", "0")),
        (0.0, None, ("0", "")),
        (10_045.0, None, ("10,045", "")),
        (326_000.0, None, ("326.0 k", "")),
        (-5.25, 0.5, ("−5.25", "0.50")),
        (3.2e9, 4e7, ("3.200 G", "0.040 G")),
    ],
)
def test_a_figure_has_the_digits_that_its_spread_supports(value, spread, texts):
    assert supported(value, spread) == texts


@pytest.mark.parametrize(
    ("low", "high", "places"),
    [(-0.0695, 0.137, 0), (0.031, 0.072, 1), (0.03, 0.031, 2), (-5.0, 9.0, 0), (None, None, 2)],
)
def test_a_percentage_has_the_places_that_its_interval_supports(low, high, places):
    assert percent_places(low, high) == places


@pytest.mark.parametrize(
    ("share", "direction", "unit", "text"),
    [
        (12.8, "lower", "ms", "13.8 times as long"),
        (1.0, "lower", "bytes", "2.0 times as much"),
        (0.99, "lower", "ms", "+99.00 %"),
        (12.8, "higher", "records/s", "+1,280.00 %"),
    ],
)
def test_a_figure_that_became_far_worse_is_so_many_times_as_long(share, direction, unit, text):
    assert delta(share, direction, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (1e-300, "1.000e-300"),
        (-1.79e308, "−1.790e+308"),
        (1e-9, "0.000000001000"),
        (123_456_789_012_345.0, "123,456,789,012,345.0"),
    ],
)
def test_a_figure_of_more_digits_than_anybody_counts_has_a_power_of_ten(value, text):
    assert figure(value) == text
