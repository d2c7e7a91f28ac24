"""Verdicts on a family of labelled series, which alarms by chance no oftener than one series."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.figures.verdicts.pairs import Pairs
from tidemark.figures.verdicts.rule import Criteria, Judgement, judge_by


def judge_family(series: Sequence[Pairs], criteria: Criteria) -> list[Judgement]:
    """Return the verdict on each series, by p-values that are adjusted for all of them."""
    p_values = holm([criteria.method.p_value(pairs) for pairs in series])
    return [
        judge_by(p_value, pairs, criteria) for p_value, pairs in zip(p_values, series, strict=True)
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p-values, in the order of the given ones.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted, least = [1.0] * len(p_values), 0.0
    ascending = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(ascending):
        least = max(least, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, least)
    return adjusted
