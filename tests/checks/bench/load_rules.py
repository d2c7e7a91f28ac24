"""Searches for the users of a simulated service: how near they come, and in what time.

``python -m tests.checks.bench.load_rules`` prints the table that ``make bench`` checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.simulated_service import SimulatedService, search
from tidemark.figures.version_rates import mean
from tidemark.model.load import Bounds, Feedback, Plateaus

CAPACITIES = (52, 500, 2_000)
_SEARCHES = 400
_NEAR = 0.05
# Four seconds to settle and eight that are measured; Mattermost changes its users every two.
_PLATEAU_SECONDS, _STEP_SECONDS = 12.0, 2.0
_BOUNDS = Bounds(users=20_000, seconds=69_120, levels=10_000)


class Searched(NamedTuple):
    """Searches for one capacity by one rule."""

    capacity: int
    far: float
    """The share of searches whose result is more than 5 % from the capacity [%]."""
    seconds: float
    """The mean of the simulated time [s]."""


def searched(rule: Plateaus | Feedback, capacity: int, count: int) -> Searched:
    """Return what many searches for a capacity found."""
    seconds = _PLATEAU_SECONDS if isinstance(rule, Plateaus) else _STEP_SECONDS
    far, times = 0, list[float]()
    for seed in range(count):
        service = SimulatedService(capacity, seed, min(seconds, 8.0))
        decision, levels = search(rule, _BOUNDS, service, seconds)
        is_near = decision.end == "found" and abs(mean(decision.found) / capacity - 1) <= _NEAR
        far += not is_near
        times.append(levels[-1].ended)
    return Searched(capacity, 100 * far / count, mean(times))


def figures() -> Iterator[tuple[str, float, float, str]]:
    """Yield name, measured figure, limit and unit for each capacity."""
    for capacity in CAPACITIES:
        plateaus = searched(Plateaus(), capacity, _SEARCHES)
        # Each search by feedback takes half an hour of simulated time for its window alone.
        feedback = searched(Feedback(), capacity, 3)
        name = f"plateaus, {capacity:,} users"
        yield f"{name}: farther than 5 %", plateaus.far, 5.0, "% of searches"
        ratio = plateaus.seconds / feedback.seconds
        times = f"{plateaus.seconds:,.0f} and {feedback.seconds:,.0f} s"
        yield f"{name}: simulated time to ±8 users every 2 s ({times})", ratio, 0.5, "×"


if __name__ == "__main__":
    for text, value, limit, unit in figures():
        print(f"{text}: {value:.2f} {unit}, at most {limit:g}")
