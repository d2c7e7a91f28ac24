"""Simulated histories whose changes of level the benchmark counts."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.checks.bench.noises import Trial, both_tails, slow_tail, steady
from tidemark.figures.history.levels import RunFigure, judged_levels

# The standard deviation of a run's median, and the part of it that all versions of the run share.
_SCATTER, _SHARED = 0.02, 0.03
_BEFORE, _AFTER, _LOSS = 40, 30, 0.1

NOISES: dict[str, Trial] = {"normal": steady, "lognormal": slow_tail, "t3": both_tails}
"""The noises of runs whose scatter grows and whose level does not change."""
History = Callable[[random.Random], list[RunFigure]]


def machine_slower(chance: random.Random, canary: bool) -> list[RunFigure]:
    """Return runs on a machine that becomes slower."""
    return _runs(chance, canary, of_machine=1 - _LOSS, of_version=1)


def version_slower(chance: random.Random, canary: bool) -> list[RunFigure]:
    """Return runs in which one version becomes slower, and the canary does not."""
    return _runs(chance, canary, of_machine=1, of_version=1 - _LOSS)


def autoregressive(chance: random.Random, count: int) -> list[RunFigure]:
    """Return runs without a change that resemble the run before: AR(1), φ 0.6."""
    value, runs = chance.gauss(0, 1.25), []
    for _ in range(count):
        value = 0.6 * value + chance.gauss(0, 1)
        runs.append(RunFigure(100 + value))
    return runs


def unchanged(noise: Trial, chance: random.Random) -> list[RunFigure]:
    """Return runs without a change; the second half has three times the scatter."""
    return [RunFigure(100 + (3 if run >= 50 else 1) * noise(chance)) for run in range(100)]


def spike(chance: random.Random) -> list[RunFigure]:
    """Return runs; one lies six standard deviations apart."""
    values = [chance.gauss(100, 1) for _ in range(60)]
    values[chance.randrange(60)] += 6
    return [RunFigure(value) for value in values]


def alarms(runs: list[RunFigure]) -> bool:
    """Tell whether a history alarms: a change of level that the version caused."""
    return any(
        change.cause == "version" and change.state in {"new", "lasting"}
        for change in judged_levels(runs).told
    )


def _runs(
    chance: random.Random, canary: bool, of_machine: float, of_version: float
) -> list[RunFigure]:
    runs = []
    for index in range(_BEFORE + _AFTER):
        later = index >= _BEFORE
        shared = chance.gauss(of_machine if later else 1, _SHARED)
        other = shared * chance.gauss(1, _SCATTER)
        own = shared * chance.gauss(of_version if later else 1, _SCATTER)
        runs.append(RunFigure(own, other if canary else None))
    return runs
