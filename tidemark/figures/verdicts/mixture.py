"""The mixture t: intervals and p-values that hold whenever somebody looks at the pairs.

The mean of d under test is weighed by a normal prior with ``width`` standard deviations of d. The
resulting e-value bounds the error over all looks, without a last look: a run may stop, resume and
continue.

Sources: Lai, Annals of Statistics 4 (1976); Wang & Ramdas, arXiv 2310.03722.
"""

from __future__ import annotations

import math

from tidemark.figures.verdicts.pairs import Pairs


def half_width(pairs: Pairs, alpha: float, width: float) -> float:
    """Return the half of the interval of the mean of d, infinite if the pairs are too few."""
    count = pairs.count
    if count < 2:
        return math.inf
    growth = 1 + count * width * width
    ratio = (growth / alpha**2) ** (1 / count)
    if ratio >= growth:
        return math.inf
    factor = (count - 1) * (ratio - 1) / (count * (1 - ratio / growth))
    return pairs.deviation * math.sqrt(factor)


def p_value(pairs: Pairs, width: float) -> float:
    """Return the inverse of the e-value against a mean of zero, 1 at most."""
    if not pairs.squares:
        return 1.0
    count, prior = pairs.count, 1 / (width * width)
    whole = (count + prior) * pairs.squares
    logarithm = math.log(prior / (count + prior)) / 2
    logarithm += count / 2 * math.log(whole / (whole - pairs.total * pairs.total))
    return math.exp(-max(0.0, logarithm))
