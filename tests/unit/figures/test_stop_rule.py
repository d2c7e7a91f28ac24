"""The search for the supported users of a service: every one ends, with its reason."""

import math
import random

import pytest

from tests.simulated_service import SimulatedService, search
from tidemark.figures.stop_rule import Level, decide, last_window, window
from tidemark.model.load import Bounds, Equilibrium, Feedback, Plateaus

PLATEAUS = Plateaus(searches=1)
FEEDBACK = Feedback(window_seconds=600)
RULES = pytest.mark.parametrize("rule", [PLATEAUS, FEEDBACK], ids=["plateaus", "feedback"])
BOUNDS = Bounds(users=20_000, seconds=7_200, levels=5_000)
SMALL = Bounds(users=200, seconds=7_200, levels=5_000)


def above(limit):
    """Return a service that hits its limit above a number of users."""
    return lambda users, _: users > limit


def level(users, hit=False, **more):
    return Level(users, more.pop("ended", 12.0), ("p99",) if hit else (), **more)


@RULES
def test_a_service_without_noise_supports_its_limit(rule):
    decision, _ = search(rule, BOUNDS, above(1_000), 12)

    assert decision.end == "found"
    assert decision.found == (pytest.approx(1_000, rel=0.02),)


@RULES
def test_a_limit_that_is_never_reached_gives_no_figure(rule):
    decision, levels = search(rule, SMALL, above(math.inf), 12)

    assert (decision.end, decision.found) == ("no limit", ())
    assert decision.reason == "200 users hit no limit, and the search has no more"
    assert levels[-1].users == 200


@RULES
def test_a_service_at_its_limit_at_once_supports_nobody(rule):
    decision, _ = search(rule, BOUNDS, above(0), 12)

    assert (decision.end, decision.found) == ("none supported", ())
    least = "1 user" if rule is PLATEAUS else "8 users"
    assert decision.reason == f"{least} hit latency"


@RULES
def test_a_service_that_drops_all_users_ends_the_search(rule):
    levels = [level(8), level(16, connected=0.0, ended=24.0)]

    decision = decide(rule, BOUNDS, levels)
    assert (decision.end, decision.found) == ("dropped", ())
    assert decision.reason == "none of 16 users is connected: the service or the load is gone"


@RULES
def test_an_agent_at_its_own_limit_ends_the_search(rule):
    levels = [level(8), level(16, agents_hit=("cpu",), ended=24.0)]

    decision = decide(rule, BOUNDS, levels)
    assert (decision.end, decision.found) == ("agents", ())
    assert decision.reason == "the agents are the limit, not the service: 16 users hit cpu"


@RULES
def test_a_level_that_the_agents_limit_gives_no_figure_even_as_the_last_of_a_search(rule):
    _, levels = search(rule, BOUNDS, above(100), 12)

    decision = decide(rule, BOUNDS, [*levels[:-1], levels[-1]._replace(agents_hit=("cpu",))])
    assert (decision.end, decision.found) == ("agents", ())


def test_a_service_that_drops_all_users_keeps_the_figures_of_earlier_searches():
    two = Plateaus(searches=2)
    _, levels = search(PLATEAUS, BOUNDS, above(100), 12)

    decision = decide(two, BOUNDS, [*levels, level(50, connected=0.0, ended=999.0)])
    assert decision.end == "dropped"
    assert decision.found == (pytest.approx(100, rel=0.03),)


def test_users_that_drift_are_in_no_equilibrium():
    bounds = Bounds(users=20_000, seconds=3_600, levels=5_000)

    decision, _ = search(FEEDBACK, bounds, lambda users, now: users > 200 + 0.3 * now, 12)
    assert (decision.end, decision.found) == ("too long", ())
    assert decision.reason.startswith(
        "the bound of 3,600 s is reached; no equilibrium of users: they change by 0."
    )


def test_users_that_swing_are_in_no_equilibrium():
    # A service that answers so late that the limit is seen 15 levels after it was passed.
    seen = []

    def late(users, _):
        seen.append(users > 100)
        return seen[max(0, len(seen) - 15)]

    decision, _ = search(FEEDBACK, Bounds(users=20_000, seconds=3_600, levels=5_000), late, 12)
    assert (decision.end, decision.found) == ("too long", ())
    assert "they swing by" in decision.reason or "they change by" in decision.reason


def test_users_that_follow_a_limit_closely_are_in_equilibrium():
    decision, _ = search(FEEDBACK, BOUNDS, lambda users, now: users > 500 + now % 50, 12)

    assert decision.end == "found"


@RULES
@pytest.mark.parametrize(
    ("bounds", "end", "bound"),
    [
        ({"seconds": 60}, "too long", "60 s"),
        ({"seconds": 9_999, "levels": 5}, "too many levels", "5 levels"),
        ({"seconds": 9_999, "usd": 1.5}, "too dear", "1.5 USD"),
    ],
)
def test_a_bound_ends_a_search_before_its_rule_does(rule, bounds, end, bound):
    _, levels = search(rule, BOUNDS, above(9_999), 12)
    levels = levels[:5]

    # Five levels take 60 s.
    assert decide(rule, Bounds(users=20_000, **bounds), levels[:4], 0.025).end is None
    decision = decide(rule, Bounds(users=20_000, **bounds), levels, 0.025)
    assert (decision.end, decision.users) == (end, 0)
    assert decision.reason.startswith(f"the bound of {bound} is reached; ")


def test_a_bound_keeps_the_searches_that_are_done():
    three = Plateaus(searches=3)
    _, levels = search(three, BOUNDS, above(100), 12)

    decision = decide(three, Bounds(users=20_000, seconds=9_999, levels=16), levels[:16])
    assert decision.end == "too many levels"
    assert decision.found == (pytest.approx(100, rel=0.03),) * 2
    assert "; search 3 of 3: " in decision.reason


def test_a_level_that_fails_once_is_repeated():
    held = [level(8), level(16, hit=True)]

    assert decide(PLATEAUS, BOUNDS, held).users == 16
    assert decide(PLATEAUS, BOUNDS, [*held, level(16)]).users == 32
    assert decide(PLATEAUS, BOUNDS, [*held, level(16, hit=True)]).users == 12


def test_a_search_begins_with_the_users_that_the_one_before_found():
    decision, levels = search(Plateaus(searches=2), BOUNDS, above(100), 12)

    assert decision.found == (102, 100)
    assert [each.users for each in levels[-4:]] == [100, 102, 102, 98]


@pytest.mark.parametrize(
    ("hits", "users"), [(False, [102, 106, 114, 130]), (True, [102, 102, 98, 98, 90, 90, 74, 74])]
)
def test_the_steps_of_a_later_search_double_until_it_has_a_bracket(hits, users):
    _, levels = search(PLATEAUS, BOUNDS, above(100), 12)
    first = len(levels)

    for _ in users:
        following = decide(Plateaus(searches=2), BOUNDS, levels)
        levels.append(level(following.users, hit=hits))
    assert [each.users for each in levels[first:]] == users


def test_feedback_is_found_in_the_users_that_are_connected():
    levels = [
        level(108 - 8 * (n % 2), hit=n % 2 == 0, ended=2.0 * n, connected=70.0) for n in range(400)
    ]

    assert decide(FEEDBACK, BOUNDS, levels).found == (70.0,)


@pytest.mark.parametrize("capacity", [52, 900])
def test_plateaus_find_a_known_capacity_under_noise(capacity):
    found = [
        search(Plateaus(), BOUNDS, SimulatedService(capacity, seed, 8), 12)[0].found
        for seed in range(20)
    ]

    near = [abs(sum(each) / len(each) / capacity - 1) <= 0.05 for each in found]
    assert sum(near) >= 19


@RULES
def test_a_search_of_any_service_ends_within_its_levels(rule):
    for seed in range(30):
        service = SimulatedService(10 ** (seed / 8), seed, 2)
        decision, levels = search(rule, BOUNDS, service, 12)
        assert decision.end
        assert len(levels) <= BOUNDS.levels


EQUILIBRIUM = Equilibrium()
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
    found = last_equilibrium(coordinated(level, until=17_000), EQUILIBRIUM)

    assert found.mean == pytest.approx(level, rel=0.02)
    assert found.until == pytest.approx(17_000, abs=100)


def test_users_who_still_rise_slowly_are_in_equilibrium_at_their_last_mean():
    rising = recorded(lambda now: min(2 * now, 8_000 + 0.05 * now), 9_000)

    assert last_equilibrium(rising, EQUILIBRIUM).mean == pytest.approx(
        8_000 + 0.05 * 8_100, rel=0.001
    )


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
    assert last_equilibrium(recorded(users), EQUILIBRIUM) is None


def test_an_equilibrium_before_the_service_died_is_found():
    found = last_equilibrium(recorded(lambda now: 900 if now < 5_000 else 0), EQUILIBRIUM)

    assert found.mean == pytest.approx(900, rel=0.02)


@pytest.mark.parametrize("points", [[], recorded(lambda now: 900, 1_700)])
def test_a_series_shorter_than_the_window_has_no_equilibrium(points):
    assert last_equilibrium(points, EQUILIBRIUM) is None


def test_a_window_has_the_slope_of_the_line_of_least_squares():
    found = window([(0.0, 10.0), (10.0, 14.0), (20.0, 18.0)])

    assert (found.mean, found.slope, found.since, found.until) == (14.0, 0.4, 0.0, 20.0)
    assert found.scatter == pytest.approx((32 / 3) ** 0.5)
