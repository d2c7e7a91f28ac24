"""A service of known capacity under simulated users, for the rules that search for it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from tidemark.figures.stop_rule import Decision, Level, decide
from tidemark.model.load import Bounds, Feedback, Plateaus

SERVICE_MS, LIMIT_MS = 15.0, 100.0
# The latency of a queue, service time / (1 - utilisation), reaches the limit at this utilisation.
_UTILISATION = 1 - SERVICE_MS / LIMIT_MS
# The scatter of a measured mean of 8 s, and that of the machine from one level to the next.
_LATENCY_SCATTER, _CAPACITY_SCATTER = 0.1, 0.02
_SECONDS = 8.0

Hits = Callable[[int, float], bool]
"""Tell whether users who begin at a time [s] hit the limit of a service."""


class SimulatedService:
    """A queue whose mean latency is exactly its limit at ``capacity`` users, with noise."""

    def __init__(self, capacity: float, seed: int, seconds: float) -> None:
        self._capacity = capacity
        self._chance = random.Random(seed)
        self._scatter = _LATENCY_SCATTER * math.sqrt(_SECONDS / seconds)

    def __call__(self, users: int, _: float) -> bool:
        """Tell whether the measured mean latency of a number of users is above the limit."""
        capacity = self._capacity * self._chance.gauss(1, _CAPACITY_SCATTER)
        free = 1 - _UTILISATION * users / capacity
        noise = self._chance.lognormvariate(0, self._scatter)
        return free <= 0 or SERVICE_MS / free * noise > LIMIT_MS


def search(
    rule: Plateaus | Feedback, bounds: Bounds, hits: Hits, seconds: float
) -> tuple[Decision, Sequence[Level]]:
    """Return the end of a search whose levels take some seconds each, and its levels."""
    levels: list[Level] = []
    while (decision := decide(rule, bounds, levels)).end is None:
        now = levels[-1].ended if levels else 0.0
        hit = ("latency",) if hits(decision.users, now) else ()
        levels.append(Level(decision.users, now + seconds, hit))
    return decision, levels
