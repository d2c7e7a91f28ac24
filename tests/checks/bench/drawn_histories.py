"""Drawn histories that resemble releases and nightly tests, with their true changes."""

from __future__ import annotations

import math
import random
from typing import NamedTuple

HUMP = 6
"""The releases of a drawn regression."""
_RATIOS = (0.2, 0.25, 0.3, 0.4, 0.6, 1, 2, 15)


class Drawn(NamedTuple):
    """A history and the indices of its changes."""

    values: list[float]
    changes: list[int]


class Releases(NamedTuple):
    """Histories of many metrics over the same releases."""

    series: list[list[tuple[float, float, float]]]
    """The median and the quartiles of six trials, by metric and release."""
    begin: int
    """The release that makes the first ``slowed`` metrics slower for six releases."""
    slowed: int


def nightly(chance: random.Random) -> Drawn:
    """Return nightly figures: small steps, spikes, and noise that resembles the night before."""
    count, correlation = chance.randrange(120, 600), chance.choice([0, 0, 0.2, 0.4, 0.6])
    deviation = math.exp(chance.gauss(math.log(0.015), 0.6))
    spikes, heavy = chance.choice([0, 0.01, 0.03, 0.08]), chance.random() < 0.5
    steps = {} if chance.random() < 0.2 else _steps(chance, count)
    level, error, values = chance.uniform(2, 12), 0.0, list[float]()
    for index in range(count):
        level += steps.get(index, 0.0)
        error = correlation * error + deviation * math.sqrt(1 - correlation**2) * _noise(
            chance, heavy=heavy
        )
        spike = chance.choice([1, 1, 1, -1]) * deviation * chance.uniform(3, 15)
        values.append(math.exp(level + error - (spike if chance.random() < spikes else 0)))
    return Drawn(values, [place for place, size in steps.items() if abs(size) > 0.8 * deviation])


def _steps(chance: random.Random, count: int) -> dict[int, float]:
    """Return steps of 3.4 % at their median, one in 120 nights."""
    steps, place = dict[int, float](), 0
    while (place := place + max(2, int(chance.expovariate(1 / 120)))) < count - 2:
        steps[place] = chance.choice([-1, 1]) * math.exp(chance.gauss(math.log(0.034), 0.8))
    return steps


def _noise(chance: random.Random, *, heavy: bool) -> float:
    value = chance.gauss(0, 1)
    return 0.6 * value / math.sqrt(chance.gammavariate(1.5, 1 / 1.5)) if heavy else value


def releases(chance: random.Random, metrics: int, count: int, slowed: int) -> Releases:
    """Return metrics; some are slower by 20 % to 16 times for six releases.

    Others have steps, outliers of one or two releases, and releases that are slower as a whole.
    """
    begin = chance.randrange(30, count - 20)
    worse = {
        release: chance.uniform(0.05, 0.4)
        for release in range(count)
        if chance.random() < 0.02 and not begin - 8 <= release < begin + 8
    }
    series = list[list[tuple[float, float, float]]]()
    while len(series) < metrics:
        ratio = math.log(1 + chance.choice(_RATIOS)) if len(series) < slowed else 0.0
        drawn = _metric(chance, count, worse, begin, ratio)
        values = [value for value, _, _ in drawn]
        if not ratio or min(values[begin : begin + HUMP]) > max(values[begin - 8 : begin]):
            series.append(drawn)
    return Releases(series, begin, slowed)


def _metric(
    chance: random.Random, count: int, worse: dict[int, float], begin: int, ratio: float
) -> list[tuple[float, float, float]]:
    deviation = math.exp(chance.gauss(math.log(0.02), 0.8))
    of_trial, heavy = deviation * chance.uniform(0.5, 2), chance.random() < 0.5
    places = (chance.randrange(8, count - 8) for _ in range(chance.choice([0, 1, 2, 3])))
    steps = {
        place: chance.choice([-1, 1]) * chance.uniform(0.08, 0.8)
        for place in places
        if min(abs(place - begin), abs(place - begin - HUMP)) > 8
    }
    level, outlier, drawn = chance.uniform(-3, 3), 0.0, list[tuple[float, float, float]]()
    for release in range(count):
        level += steps.get(release, 0.0)
        value = level + deviation * _noise(chance, heavy=heavy) + outlier
        value += worse[release] if release in worse and chance.random() < 0.5 else 0.0
        value += ratio if begin <= release < begin + HUMP else 0.0
        outlier = chance.uniform(0.1, 0.6) if chance.random() < 0.002 else 0.0
        trials = sorted(math.exp(value + chance.gauss(0, of_trial)) for _ in range(6))
        drawn.append(((trials[2] + trials[3]) / 2, trials[1], trials[4]))
    return drawn


def autoregressive(chance: random.Random, count: int, correlation: float) -> list[float]:
    """Return figures without a change that resemble the figure before by a correlation."""
    value, values = chance.gauss(0, 1), list[float]()
    for _ in range(count):
        value = correlation * value + chance.gauss(0, 1) * math.sqrt(1 - correlation**2)
        values.append(100 + value)
    return values


def past(chance: random.Random) -> list[float]:
    """Return levels, a hump or a drift that stand before a history of another scatter."""
    level, deviation = 100 * 10 ** chance.uniform(-1, 1), 10 ** chance.uniform(-3, -1)
    kind, count = chance.choice(["levels", "hump", "drift"]), chance.randrange(20, 150)
    slope = chance.uniform(-0.02, 0.02) if kind == "drift" else 0.0
    begin, times = chance.randrange(count), math.exp(chance.gauss(0, 0.7))
    values = list[float]()
    for index in range(count):
        if kind == "levels" and chance.random() < 0.05:
            level *= math.exp(chance.gauss(0, 0.3))
        hump = times if kind == "hump" and begin <= index < begin + HUMP else 1.0
        values.append(level * hump * math.exp(slope * index + chance.gauss(0, deviation)))
    return values
