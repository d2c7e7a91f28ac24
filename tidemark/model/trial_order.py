"""The trials of repetitions in the order in which a run measures them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from tidemark.model.axes import combinations
from tidemark.model.plan import PlannedTrial
from tidemark.model.run_spec import RunSpec, requirement
from tidemark.model.suite import Suite


def in_turns(
    request: RunSpec,
    suite: Suite,
    versions: Sequence[str],
    repetitions: Iterable[int],
    *,
    seed: int,
    first: int = 1,
) -> tuple[PlannedTrial, ...]:
    """Return the trials of versions in some repetitions, numbered from ``first`` on.

    The versions take turns, in an order that is shuffled for each repetition of each combination of
    axes: a change of the machine during a run then affects all versions alike (randomised complete
    block design). The same arguments give the same order.
    """
    shuffle = random.Random(seed)  # noqa: S311 (order, no secret)
    order = [
        (repetition, axes, version)
        for repetition in repetitions
        for axes in combinations(request.axes)
        for version in shuffle.sample(versions, len(versions))
    ]
    return tuple(
        PlannedTrial(
            trial=number,
            version=version,
            package=requirement(request, suite, version),
            repetition=repetition,
            axes=axes,
        )
        for number, (repetition, axes, version) in enumerate(order, start=first)
    )
