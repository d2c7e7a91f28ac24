"""The statistics of a metric."""

import math
import random
import statistics

import pytest

from tidemark.figures.statistic import of_samples, of_streams, quantile
from tidemark.model.metric import basis

VALUES = [4.0, 1.0, 2.0, 8.0, 5.0]


@pytest.mark.parametrize(
    ("statistic", "figure"),
    [
        ("mean", 4.0), ("p50", 4.0), ("p90", 6.8), ("p95", 7.4), ("p99", 7.88), ("max", 8.0),
        ("min", 1.0), ("total", 20.0), ("count", 5.0), ("per_second", 8.0),
    ],
)  # fmt: skip
def test_each_statistic_is_made_of_the_samples(statistic, figure):
    assert of_samples(statistic, VALUES, 2.5) == pytest.approx(figure, rel=1e-15)


@pytest.mark.parametrize("statistic", ["mean", "max", "min", "total", "count", "per_second"])
def test_the_figures_of_streams_merge_into_that_of_all_samples(statistic):
    streams = VALUES[:1], VALUES[1:]
    merged = [(of_samples(basis(statistic), list(part), None), len(part)) for part in streams]

    assert of_streams(statistic, merged, 2.5) == pytest.approx(of_samples(statistic, VALUES, 2.5))


def test_a_test_that_took_no_time_has_no_figure_per_second():
    assert math.isnan(of_samples("per_second", VALUES, None))


@pytest.mark.parametrize("size", [2, 3, 10, 101, 1000])
@pytest.mark.parametrize("percent", [50, 90, 95, 99])
def test_a_quantile_is_that_of_hyndman_and_fan_7(size, percent):
    chance = random.Random(size)
    values = [chance.expovariate(0.1) for _ in range(size)]

    inclusive = statistics.quantiles(values, n=100, method="inclusive")
    assert quantile(values, percent / 100) == pytest.approx(inclusive[percent - 1], rel=1e-12)


def test_the_quantile_of_one_value_is_the_value():
    assert quantile([7.0], 0.99) == 7.0
