"""Histograms of times, and the figures that are made of them."""

import math
import random

import pytest

from tidemark.figures import statistic
from tidemark.figures.statistic import (
    histogram,
    histogram_mean,
    histogram_quantile,
    merged_histogram,
)


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
    assert abs(found.value - statistic.quantile(values, share)) <= found.error + 1e-9


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
