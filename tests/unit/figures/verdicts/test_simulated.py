"""A quick cell of each table in docs/verdicts.md; the benchmark has them all, with more runs."""

import random
import statistics

import pytest

from tests.checks.bench.histories import alarms, machine_slower, spike, version_slower
from tests.checks.bench.noises import CLOSELY, NOISES, UNLIKE, normal
from tests.checks.bench.verdict_runs import Metric, fixed, until_decided
from tests.checks.bench.verdicts import UNLIKE_SCATTERS, percentage, simulated
from tidemark.figures.verdicts.rule import ALARMS, UNCONFIRMED


def shares(run, runs, *words):
    ends = simulated(run, runs)
    return [percentage([end.word == word for end in ends]) for word in words]


@pytest.mark.parametrize("noise", NOISES)
def test_runs_without_a_change_seldom_alarm(noise):
    metric = Metric(NOISES[noise], 0.07, metrics=2)

    decided = shares(lambda chance: until_decided(metric, chance), 400, *ALARMS)
    planned = shares(lambda chance: fixed(metric, chance, 10), 1000, *ALARMS)

    assert sum(decided) <= 1
    assert sum(planned) <= 1.5


# A cell of 1,500 runs takes 6 s: `make systems` simulates the others.
@pytest.mark.parametrize(
    "scatter",
    [
        UNLIKE_SCATTERS[0],
        *(pytest.param(x, marks=pytest.mark.systems) for x in UNLIKE_SCATTERS[1:]),
    ],
)
@pytest.mark.parametrize("noise", UNLIKE)
def test_runs_until_decided_seldom_alarm_if_noise_is_not_alike(noise, scatter):
    metric = Metric(UNLIKE[noise], scatter, metrics=2)
    runs = 500 if scatter == UNLIKE_SCATTERS[0] else 1500

    # 1 % of runs of two metrics, with the error of so few runs.
    assert sum(shares(lambda chance: until_decided(metric, chance), runs, *ALARMS)) <= 0.7


def test_runs_with_time_for_few_pairs_find_more_than_the_first_level_alone_and_seldom_alarm():
    timed = Metric(normal, 0.03, 0.1, metrics=4, time_for=12)
    assert shares(lambda chance: until_decided(timed, chance), 200, "slower")[0] >= 65

    close = Metric(UNLIKE[CLOSELY], 0.15, metrics=2, time_for=12)
    assert sum(shares(lambda chance: until_decided(close, chance), 600, *ALARMS)) <= 0.7


@pytest.mark.parametrize("noise", UNLIKE)
def test_a_plan_alarms_as_often_as_reports_say_if_noise_is_not_alike(noise):
    metric = Metric(UNLIKE[noise], 0.15, metrics=2)

    assert sum(shares(lambda chance: fixed(metric, chance, 20), 1500, *ALARMS)) <= 50 * UNCONFIRMED


@pytest.mark.parametrize("noise", {**NOISES, **UNLIKE})
def test_the_noises_scatter_as_they_say(noise):
    chance = random.Random(1)
    source = {**NOISES, **UNLIKE}[noise](chance, 0.07)
    pairs = [next(source) for _ in range(4000)]

    assert statistics.fmean(pairs) == pytest.approx(0, abs=0.005)
    assert statistics.stdev(pairs) == pytest.approx(0.07, rel=0.15)


def test_a_slowdown_is_found_soon():
    metric = Metric(normal, 0.07, 0.1, most=60)
    ends = simulated(lambda chance: until_decided(metric, chance), 200)

    assert percentage([end.word == "slower" for end in ends]) >= 98
    assert sum(end.pairs for end in ends) / 200 <= 24
    found = [end.judgement for end in ends]
    inside = [each.low is None or each.low <= -0.1 <= each.high for each in found]
    assert percentage(inside) >= 98


def test_pairs_that_scatter_much_end_a_run_early():
    metric = Metric(normal, 0.3, most=30)
    ends = simulated(lambda chance: until_decided(metric, chance), 200)

    assert sum(end.pairs for end in ends) / 200 <= 15


def test_a_slowdown_is_seldom_called_the_same():
    metric = Metric(normal, 0.03, 0.05)

    (same,) = shares(lambda chance: until_decided(metric, chance), 300, "same")

    assert same <= 5


@pytest.mark.parametrize(("loss", "word"), [(0.1, "slower"), (-0.1, "faster")])
def test_an_alarm_is_confirmed_by_a_few_pairs(loss, word):
    metric = Metric(normal, 0.07, loss, most=60)
    ends = simulated(lambda chance: until_decided(metric, chance), 200)

    assert percentage([end.word == word for end in ends]) >= 97
    assert sum(end.extra for end in ends) / 200 <= 12


def test_histories_alarm_for_a_version_and_not_for_a_machine():
    assert not any(simulated(lambda chance: alarms(machine_slower(chance, True)), 30))
    assert all(simulated(lambda chance: alarms(machine_slower(chance, False)), 30))
    assert all(simulated(lambda chance: alarms(version_slower(chance, True)), 30))
    assert not any(simulated(lambda chance: alarms(spike(chance)), 30))
