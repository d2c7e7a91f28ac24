"""Names and numbers as parts of a sentence."""

import pytest

from tidemark.model.sentences import did_you_mean, part_of


@pytest.mark.parametrize(
    ("count", "whole", "text"),
    [
        (3, 5, "3 of 5 trials"), (0, 5, "none of 5 trials"), (0, 1, "none of 1 trial"),
        (1, 1, "the only trial"), (2, 2, "both trials"), (1_200, 1_200, "all 1,200 trials"),
    ],
)  # fmt: skip
def test_a_part_of_all_is_named_as_people_say_it(count, whole, text):
    assert part_of(count, whole, "trial") == text


@pytest.mark.parametrize(
    ("wanted", "near"),
    [("hist", "history"), ("hstory", "history"), ("co", ""), ("x", ""), ("", "")],
)
def test_a_similar_name_is_one_of_other_letters_or_the_only_one_with_that_beginning(wanted, near):
    names = ["history", "compare", "cost"]

    assert did_you_mean(wanted, names) == (f"; did you mean {near!r}?" if near else "")
