"""The statistics of a metric, and the histograms that some are made of."""

import math
import random
import statistics
from collections import Counter

import pytest

from tidemark.figures.trial_statistics import (
    histogram,
    histogram_mean,
    histogram_quantile,
    histogram_text,
    merged_histogram,
    of_samples,
    of_streams,
    pooled_quantile,
    quantile,
)
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


def test_a_pooled_quantile_is_that_of_all_values_with_an_interval_around_it():
    trials = [[level + number / 100 for number in range(1000)] for level in (0.0, 0.4, 0.2)]

    found = pooled_quantile([Counter(trial) for trial in trials], 0.9, exact=True)

    every = [value for trial in trials for value in trial]
    assert found.value == pytest.approx(quantile(every, 0.9))
    assert found.values == 3000
    assert found.low < found.value < found.high
    # Student's t of two degrees of freedom is 4.3, and the quantiles of the trials scatter by 0.2.
    assert (found.high - found.low) / 2 == pytest.approx(4.3 * 0.2 / math.sqrt(3), rel=0.15)


def test_trials_that_are_alike_have_their_quantile_and_one_alone_has_no_interval():
    one = Counter(range(1, 102))

    assert pooled_quantile([one], 0.99, exact=True)[:3] == (100.0, None, None)
    assert pooled_quantile([one, one], 0.99, exact=True)[1:3] == pytest.approx((100.0, 100.0))


def test_an_interval_that_reaches_beyond_all_values_has_no_end_there():
    trials = [Counter({1.0: 90, 9.0: 10}), Counter({1.0: 100})]

    assert pooled_quantile(trials, 0.99, exact=True).high is None


def test_a_histogram_has_the_text_that_it_is_read_from():
    text = "0.3:2 7:4 17:5 1010:1"

    assert histogram_text(histogram(text)) == text


def text_of(values):
    """Return the buckets of values as an agent logs them."""
    least = [
        math.floor(value * 10 + 1e-9) / 10 if value < 10
        else float(math.floor(value)) if value < 1_000
        else float(math.floor(value / 10) * 10)
        for value in values
    ]  # fmt: skip
    return " ".join(f"{one:g}:{least.count(one)}" for one in sorted(set(least)))


def drawn(seed, count=400):
    chance = random.Random(seed)
    return [chance.lognormvariate(3, 1.5) for _ in range(count)]


@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("seed", range(5))
def test_a_quantile_is_that_of_the_values_within_its_error(share, seed):
    values = drawn(seed)

    found = histogram_quantile(histogram(text_of(values)), share)
    assert abs(found.value - quantile(values, share)) <= found.error + 1e-9


def test_the_mean_is_that_of_the_values_within_its_error():
    values = drawn(7)

    found = histogram_mean(histogram(text_of(values)))
    assert abs(found.value - sum(values) / len(values)) <= found.error


def test_histograms_of_agents_merge_into_that_of_all_values():
    slow, fast = drawn(1), [value / 10 for value in drawn(2)]

    assert merged_histogram(histogram(text_of(part)) for part in (slow, fast)) == histogram(
        text_of(slow + fast)
    )


def test_the_quantile_of_all_agents_is_no_mean_of_theirs():
    idle, busy = histogram("5:99 6:1"), histogram("5:900 500:100")

    assert histogram_quantile(merged_histogram([idle, busy]), 0.99).value == pytest.approx(500.5)
    assert histogram_quantile(idle, 0.99).value < 7


@pytest.mark.parametrize(
    ("text", "error"),
    [("0.3:4", 0.05), ("9.9:4", 0.05), ("10:4", 0.5), ("999:4", 0.5), ("1000:4", 5)],
)
def test_the_error_is_half_a_bucket(text, error):
    assert histogram_quantile(histogram(text), 0.5).error == pytest.approx(error)


@pytest.mark.parametrize(
    "text", ["", "5", "5:0", "5:-1", "a:1", "5:1  6:1", "1e3:1", "∞:1", "5:1.5"]
)
def test_a_text_of_another_form_is_no_histogram(text):
    with pytest.raises(ValueError, match="expected pairs of a bucket and its count"):
        histogram(text)


@pytest.mark.parametrize("text", ["12.5:1", "1005:1", "5:1 1234:2"])
def test_a_value_within_a_bucket_begins_none(text):
    with pytest.raises(ValueError, match="begins no bucket"):
        histogram(text)
