"""Families of series: they alarm by chance no oftener than one series."""

from __future__ import annotations

from collections.abc import Sequence


def equally(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p-values of series of which each is decided whatever the others are.

    Source: Bonferroni; every series has the same share of the alarms.
    """
    return [min(1.0, len(p_values) * p_value) for p_value in p_values]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p-values of series that are judged together, in their order.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted, least = [1.0] * len(p_values), 0.0
    ascending = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(ascending):
        least = max(least, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, least)
    return adjusted
