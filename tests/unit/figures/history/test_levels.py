"""Levels of a metric over runs, with a canary and without."""

import random

import pytest

from tests.unit.figures.history.test_change_points import level
from tidemark.figures.history.levels import RunFigure, judged_levels


def history(medians, canaries=(), environments=()):
    canary = list(canaries) or [None] * len(medians)
    environment = list(environments) or [None] * len(medians)
    return [RunFigure(*run) for run in zip(medians, canary, environment, strict=True)]


def found(runs):
    return [(change.point.index, change.cause) for change in judged_levels(runs).told]


def stepped(chance, factor, scatter=2.0):
    return level(chance, 30, scatter=scatter) + level(chance, 20, 100 * factor, scatter)


def test_a_slower_version_is_a_change_of_the_version():
    chance = random.Random(1)

    assert found(history(stepped(chance, 0.9))) == [(30, "version")]
    assert found(history(stepped(chance, 0.9), level(chance, 50, scatter=2))) == [(30, "version")]


def test_a_slower_machine_is_the_environment_if_the_canary_shows_it():
    chance = random.Random(1)

    runs = history(stepped(chance, 0.9), stepped(chance, 0.9))

    assert {cause for _, cause in found(runs)} == {"environment"}


def test_a_change_with_another_environment_is_the_environments():
    chance = random.Random(1)
    machines = ["old"] * 30 + ["new"] * 20

    assert found(history(stepped(chance, 0.9), environments=machines)) == [(30, "environment")]


def test_an_unknown_environment_explains_nothing():
    chance = random.Random(1)
    machines = [None] * 30 + ["new"] * 20

    assert found(history(stepped(chance, 0.9), environments=machines)) == [(30, "version")]


def test_a_series_that_flips_between_two_levels_alternates():
    chance = random.Random(1)
    flips = [value for _ in range(2) for middle in (100, 80) for value in level(chance, 15, middle)]

    assert {cause for _, cause in found(history(flips))} == {"alternation"}


def test_a_series_that_falls_again_and_again_does_not_alternate():
    chance = random.Random(1)
    falls = [value for middle in (100, 90, 80) for value in level(chance, 15, middle)]

    assert found(history(falls)) == [(15, "version"), (30, "version")]


@pytest.mark.parametrize("canary", [None, 0.0])
def test_a_run_without_the_canary_leaves_the_figures_as_they_are(canary):
    chance = random.Random(1)
    canaries = [*level(chance, 49), canary]

    assert found(history(stepped(chance, 0.9, 1.0), canaries)) == [(30, "version")]


def test_machines_that_take_turns_explain_nothing():
    chance = random.Random(1)
    machines = [chance.choice(["amd", "intel"]) for _ in range(50)]

    assert found(history(stepped(chance, 0.9), environments=machines)) == [(30, "version")]


def test_another_environment_a_run_before_or_after_the_change_explains_it():
    for change in (29, 31):
        machines = ["old"] * change + ["new"] * (50 - change)
        runs = history(stepped(random.Random(1), 0.9), environments=machines)

        assert found(runs) == [(30, "environment")]
