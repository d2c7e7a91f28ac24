"""Changes of spread by the test of Fligner and Killeen."""

import math
import random

import pytest

from tests.unit.figures.history.test_change_points import level
from tests.unit.figures.history.test_changes import runs_of
from tidemark.figures.history.changes import judged
from tidemark.figures.spread import spread_change

BASE = [100, 101.5, 99, 100.5, 98.8, 101, 100.2, 99.6, 100.9, 99.4]
WIDE = [104, 90, 111, 97, 85, 118, 101, 93, 108, 99]


def test_the_p_value_is_that_of_scipy():
    found = spread_change(BASE, WIDE, margin=0.03, alpha=0.01)

    # scipy 1.16.3: fligner(log(BASE), log(WIDE), center="median").
    assert found.p_value == pytest.approx(0.0013579594697070848, rel=1e-12)
    assert (found.before, found.after) == pytest.approx((0.01110, 0.11085), rel=1e-3)
    assert found.word == "less steady"
    assert spread_change(WIDE, BASE, 0.03, 0.01).word == "steadier"


@pytest.mark.parametrize(
    ("base", "new", "margin", "alpha"),
    [
        (BASE[:7], WIDE, 0.03, 0.01),
        ([0, *BASE], WIDE, 0.03, 0.01),
        (BASE, WIDE, 0.1, 0.01),
        (BASE, WIDE, 0.03, 0.001),
        ([100] * 10, [100] * 10, 0, 0.01),
        (BASE, [100] * 9 + [200], 0.03, 0.01),
    ],
    ids=["few trials", "zero", "small", "chance", "no spread", "one outlier"],
)
def test_what_is_small_or_may_be_chance_is_no_change(base, new, margin, alpha):
    assert spread_change(base, new, margin, alpha) is None


def test_one_outlier_of_the_base_makes_a_version_that_scatters_more_no_steadier():
    for seed in range(50):
        base = scattered((19, 100, 0.01), (1, 140, 0), seed=seed)
        found = spread_change(base, scattered((20, 100, 0.05), seed=seed + 1_000), 0.03, 0.01)
        assert found is None or (found.word, found.before < 0.02) == ("less steady", True)


def test_a_change_whose_ranks_and_medians_go_in_opposite_directions_is_none():
    base = [100 * math.exp(share) for share in [0.001, -0.001] * 5 + [0.3, -0.3] * 4]
    new = [100 * math.exp(share) for share in [0.04, -0.04] * 9]

    assert spread_change(base, new, margin=0.0, alpha=1.0) is None
    assert spread_change(base[:10], new, margin=0.0, alpha=1.0).word == "less steady"


def test_versions_of_another_level_and_one_spread_are_as_steady():
    assert spread_change(BASE, [3 * value for value in WIDE[:2] + BASE[2:]], 0.0, 0.05) is None


def spreads(values, margin=0.03):
    runs = [
        run.model_copy(update={"medians": (run.medians[0]._replace(margin=margin),)})
        for run in runs_of(values, version=lambda index: f"1.{index}.0")
    ]
    return [change for change in judged(runs).changes if change.state == "spread"]


def scattered(*parts, seed=1):
    """Return figures around levels: the number, the level and the scatter of each part."""
    chance = random.Random(seed)
    return [
        middle * math.exp(chance.gauss(0, scatter))
        for number, middle, scatter in parts
        for _ in range(number)
    ]


def test_a_history_tells_where_it_became_less_steady_whatever_its_level_does():
    (wide,) = spreads(scattered((20, 100, 0.01), (20, 70, 0.01), (25, 70, 0.08)))

    assert (wide.word, wide.cause) == ("less steady", "version")
    assert wide.versions == ("1.39.0", "1.40.0")
    assert wide.before == pytest.approx(0.01, rel=0.4)
    assert wide.after == pytest.approx(0.08, rel=0.4)
    assert not wide.alarms
    assert not wide.is_open


def test_a_history_tells_where_it_became_steadier():
    both = spreads(scattered((30, 100, 0.01), (25, 100, 0.1), (30, 100, 0.01)))

    assert [change.word for change in both] == ["less steady", "steadier"]


def test_a_change_of_spread_below_the_margin_is_none():
    values = scattered((40, 100, 0.01), (25, 100, 0.08))

    assert spreads(values)
    assert not spreads(values, margin=0.2)


def test_one_spread_is_seldom_called_two():
    found = [bool(spreads(level(random.Random(seed), 60, scatter=5), 0.0)) for seed in range(100)]

    assert sum(found) <= 3
