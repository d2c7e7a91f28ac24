"""The equilibrium of a recorded series of connected users."""

import random

import pytest

from tidemark.figures.stop_rule import last_window, window
from tidemark.model.load import Equilibrium

RULE = Equilibrium()
EVERY = 15


def recorded(users, until=7_200):
    """Return the users of every 15 s."""
    return [(float(now), float(users(now))) for now in range(0, until, EVERY)]


def last_equilibrium(points, rule):
    """Return the last whole window of a recorded series that is level, None without one.

    A coordinator ends its test in equilibrium, so this is the window that it reports: the users who
    leave after it, and those who come before, are not level.
    """
    for end in range(len(points), 0, -1):
        latest = last_window(points[:end], rule.window_seconds)
        if latest is None:
            return None
        found = window(latest)
        if not found.unsteady(rule):
            return found
    return None


def coordinated(level, seed=1, until=9_000):
    """Return users who rise to a level, follow it in steps of eight, and leave at the end."""
    chance = random.Random(seed)

    def users(now):
        if now > until - 60:
            return max(0.0, level * (until - now) / 90)
        return min(2.0 * now, level + 8 * chance.randint(-6, 6))

    return recorded(users, until + 120)


@pytest.mark.parametrize("level", [500, 8_682, 13_223])
def test_the_equilibrium_is_the_mean_of_the_last_window_before_the_users_leave(level):
    found = last_equilibrium(coordinated(level, until=17_000), RULE)

    assert found.mean == pytest.approx(level, rel=0.02)
    assert found.until == pytest.approx(17_000, abs=100)


def test_users_who_still_rise_slowly_are_in_equilibrium_at_their_last_mean():
    rising = recorded(lambda now: min(2 * now, 8_000 + 0.05 * now), 9_000)

    assert last_equilibrium(rising, RULE).mean == pytest.approx(8_000 + 0.05 * 8_100, rel=0.001)


@pytest.mark.parametrize(
    "users",
    [
        lambda now: 2 * now,
        lambda now: 0,
        lambda now: max(0, 4_000 - now),
        lambda now: 4_000 if now % 2_000 < 1_000 else 1_000,
    ],
    ids=["drift", "nobody", "falling", "swings"],
)
def test_users_who_drift_or_swing_have_no_equilibrium(users):
    assert last_equilibrium(recorded(users), RULE) is None


def test_an_equilibrium_before_the_service_died_is_found():
    found = last_equilibrium(recorded(lambda now: 900 if now < 5_000 else 0), RULE)

    assert found.mean == pytest.approx(900, rel=0.02)


@pytest.mark.parametrize("points", [[], recorded(lambda now: 900, 1_700)])
def test_a_series_shorter_than_the_window_has_no_equilibrium(points):
    assert last_equilibrium(points, RULE) is None


def test_a_window_has_the_slope_of_the_line_of_least_squares():
    found = window([(0.0, 10.0), (10.0, 14.0), (20.0, 18.0)])

    assert (found.mean, found.slope, found.since, found.until) == (14.0, 0.4, 0.0, 20.0)
    assert found.scatter == pytest.approx((32 / 3) ** 0.5)
