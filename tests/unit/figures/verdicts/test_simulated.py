"""A quick cell of each table in docs/verdicts.md; the benchmark has them all, with more runs."""

import random

import pytest

from tests.checks.bench.histories import alarms, machine_slower, spike, version_slower
from tests.checks.bench.noises import NOISES, normal
from tests.checks.bench.verdict_runs import ALARMS, Metric, confirmed, first_stage, fixed
from tests.checks.bench.verdicts import percentage, simulated
from tidemark.figures.verdicts.pairs import Pairs


def shares(run, runs, *words):
    ends = simulated(run, runs)
    return [percentage([end.word == word for end in ends]) for word in words]


@pytest.mark.parametrize("noise", NOISES)
def test_runs_without_a_change_seldom_alarm(noise):
    metric = Metric(NOISES[noise], 0.07, metrics=2)

    until_decided = shares(lambda chance: first_stage(metric, chance, 100), 400, *ALARMS)
    planned = shares(lambda chance: fixed(metric, chance, 10), 1000, *ALARMS)

    assert sum(until_decided) <= 1
    assert sum(planned) <= 1.5


@pytest.mark.parametrize("noise", NOISES)
def test_the_noises_scatter_as_they_say(noise):
    chance = random.Random(1)
    source = NOISES[noise](chance, 0.07)
    pairs = Pairs.of([next(source) for _ in range(4000)])

    assert pairs.mean == pytest.approx(0, abs=0.005)
    assert pairs.deviation == pytest.approx(0.07, rel=0.15)


def test_a_slowdown_is_found_soon():
    metric = Metric(normal, 0.07, 0.1)
    ends = simulated(lambda chance: first_stage(metric, chance, 60), 200)

    assert percentage([end.word == "slower" for end in ends]) >= 98
    assert sum(end.pairs for end in ends) / 200 <= 13
    inside = [end.low is None or end.low <= -0.1 <= end.high for end in ends]
    assert percentage(inside) >= 98


def test_pairs_that_scatter_much_end_a_run_early():
    metric = Metric(normal, 0.12)
    ends = simulated(lambda chance: first_stage(metric, chance, 30), 200)

    assert sum(end.pairs for end in ends) / 200 <= 15


def test_a_slowdown_is_seldom_called_the_same():
    metric = Metric(normal, 0.03, 0.05)

    (same,) = shares(lambda chance: first_stage(metric, chance, 100), 300, "same")

    assert same <= 5


def test_an_alarm_is_confirmed_by_a_few_pairs():
    metric = Metric(normal, 0.07, 0.1)
    ends = simulated(lambda chance: confirmed(metric, chance, 60), 200)

    assert percentage([end.word == "slower" for end in ends]) >= 97
    assert sum(end.extra for end in ends) / 200 <= 13


def test_an_alarm_by_chance_is_not_confirmed():
    assert shares(lambda chance: confirmed(Metric(normal, 0.03), chance, 60), 500, "slower") == [0]


def test_histories_alarm_for_a_version_and_not_for_a_machine():
    assert not any(simulated(lambda chance: alarms(machine_slower(chance, True)), 30))
    assert all(simulated(lambda chance: alarms(machine_slower(chance, False)), 30))
    assert all(simulated(lambda chance: alarms(version_slower(chance, True)), 30))
    assert not any(simulated(lambda chance: alarms(spike(chance)), 30))
