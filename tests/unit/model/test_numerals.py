"""Numbers as texts."""

import pytest

from tidemark.model.numerals import bound, percent


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
