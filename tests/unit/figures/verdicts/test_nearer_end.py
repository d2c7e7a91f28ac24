"""The end of a search that a version is nearer to."""

import math
import random

import pytest

from tests.unit.figures.verdicts.test_rule import pairs
from tidemark.figures.verdicts.nearer_end import Ends
from tidemark.figures.verdicts.pairs import Pairs

NEWEST, BASE = "nearer to the newest", "nearer to the base"


def followed(ends, chance, level, scatter):
    """Return the end that a version with this mean of d is nearer to, and its pairs."""
    some = Pairs()
    while ends.nearer(some) == "cannot tell":
        some += Pairs.of([chance.gauss(level, scatter)])
    return ends.nearer(some), some.count


@pytest.mark.parametrize("change", [-0.15, 0.15])  # a rate and a time that became worse
@pytest.mark.parametrize(("share", "end"), [(0.0, BASE), (0.3, BASE), (0.7, NEWEST), (1.3, NEWEST)])
def test_a_version_is_nearer_to_one_end_whichever_direction_is_better(change, share, end):
    ends = Ends(pairs(change, 0.02, 20), 0.002)

    assert ends.nearer(pairs(math.expm1(share * math.log1p(change)), 0.02, 20)) == end


def test_the_ends_are_told_apart_from_five_pairs_on():
    ends = Ends(pairs(-0.15, 0.0, 12), 0.002)
    level = math.log1p(-0.15)

    assert ends.nearer(Pairs.of([level] * 4)) == "cannot tell"
    assert ends.missing(Pairs.of([level] * 4)) == 1
    assert ends.nearer(Pairs.of([level] * 5)) == NEWEST
    assert ends.nearer(Pairs.of([0.0] * 5)) == BASE


@pytest.mark.parametrize(("level", "other"), [(0.0, NEWEST), (-0.04, BASE)])
def test_a_version_at_one_end_is_seldom_taken_for_one_at_the_other(level, other):
    chance, runs, alpha = random.Random(1), 1000, 0.05
    wrong = 0
    for _ in range(runs):
        # The scatter of the newest version is an estimate, its mean is right.
        deviation = Pairs.of([chance.gauss(0, 0.1) for _ in range(8)]).deviation
        ends = Ends(pairs(math.expm1(-0.04), deviation, 8), alpha)
        wrong += followed(ends, chance, level, 0.1)[0] == other

    # With the bound of a known scatter, ln(1 / alpha), there would be 6 % of them.
    assert 0.01 < wrong / runs <= alpha


def test_the_missing_pairs_are_about_those_that_tell():
    chance = random.Random(1)
    ends = Ends(pairs(-0.1, 0.12, 30), 0.002)
    counts = [followed(ends, chance, math.log1p(-0.1), 0.12)[1] for _ in range(200)]

    assert sum(counts) / 200 == pytest.approx(ends.missing(Pairs()), rel=0.15)
