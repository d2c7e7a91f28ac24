"""The outlook on further pairs."""

import math
import random

import pytest

from tests.unit.figures.verdicts.test_rule import criteria, pairs
from tidemark.figures.verdicts.intervals import MIXTURE_T, PAIRED_T
from tidemark.figures.verdicts.pairs import Pairs
from tidemark.figures.verdicts.power import detectable, is_hopeless, missing
from tidemark.figures.verdicts.rule import judge


def words(change, scatter, count, rule, runs=600):
    chance = random.Random(1)
    mean = math.log1p(change)
    return [
        judge(Pairs.of([chance.gauss(mean, scatter) for _ in range(count)]), rule).word
        for _ in range(runs)
    ]


@pytest.mark.parametrize(("change", "scatter"), [(0.0, 0.05), (-0.1, 0.1), (-0.3, 0.2)])
def test_the_missing_pairs_decide_in_four_cases_of_five(change, scatter):
    rule, some = criteria(PAIRED_T), pairs(change, scatter, 6)

    needed = 6 + missing(some, rule)

    decided = [word != "cannot tell" for word in words(change, scatter, needed, rule)]
    assert 0.75 < sum(decided) / len(decided) < 0.9


@pytest.mark.parametrize("count", [6, 20])
def test_the_detectable_change_is_found_in_four_cases_of_five(count):
    rule = criteria(PAIRED_T)
    change = detectable(pairs(0, 0.07, count), rule)

    found = words(change, 0.07, count, rule).count("faster")

    assert 0.72 < found / 600 < 0.88


def test_no_number_of_pairs_is_advised_beyond_the_most():
    assert missing(pairs(0.02, 0.3), criteria(MIXTURE_T)) is None


def test_few_pairs_lack_those_up_to_five():
    assert missing(Pairs.of([0.1, 0.1]), criteria()) == 3
    assert detectable(Pairs.of([0.1, 0.1]), criteria()) is None


def test_three_pairs_tell_by_their_scatter_that_five_will_not_do():
    quiet, wide = Pairs.of([0.01, 0.011, 0.009]), Pairs.of([-0.4, 0.1, 0.3])

    assert missing(quiet, criteria(PAIRED_T)) == 2
    assert missing(wide, criteria(PAIRED_T)) == criteria(PAIRED_T).most - 3
    assert 20 < missing(Pairs.of([-0.1, 0.0, 0.1]), criteria(PAIRED_T)) < 97


def test_pairs_that_scatter_too_much_are_hopeless_and_others_are_not():
    few, many = criteria(MIXTURE_T, most=30), criteria(MIXTURE_T)

    assert is_hopeless(pairs(0.0, 0.3).estimate, few)
    assert not is_hopeless(pairs(0.0, 0.3, 6).estimate, few)
    assert not is_hopeless(pairs(-0.3, 0.3).estimate, many)
    assert not is_hopeless(pairs(0.0, 0.05).estimate, few)
