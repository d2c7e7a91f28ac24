"""The changes of a metric under its labels."""

import pytest

from tidemark.model.metric import Metric
from tidemark.report.comparison.by_labels import LabelChange, label_changes

LATENCY = Metric(
    name="latency", unit="ms", direction="lower", query="latency", labels=("operation",),
    most_labels=20, values="any",
)  # fmt: skip
RATE = LATENCY.model_copy(update={"unit": "1/s", "direction": "higher"})


def changes(metric=LATENCY, **figures):
    found = label_changes(metric, (LabelChange(name, *both) for name, both in figures.items()))
    return {kind: [each.labels for each in group] for kind, group in found._asdict().items()}


def test_changes_are_sorted_by_their_share_and_split_by_their_direction():
    assert changes(a=(100, 110), b=(100, 150), c=(100, 60), d=(100, 97)) == {
        "worsened": ["b", "a"], "improved": ["c", "d"], "small": [], "missing": [],
    }  # fmt: skip


def test_where_more_is_better_less_is_worse():
    assert changes(RATE, a=(100, 110), b=(100, 90))["worsened"] == ["b"]


@pytest.mark.parametrize(
    ("base", "new", "kind"),
    [
        (100, 102, "worsened"),
        (100, 101.9, "small"),  # less than 2 ms
        (10, 11.9, "small"),
        (1_000, 1_009, "small"),  # less than 1 %
        (1_000, 1_010, "worsened"),
        (50, 50, "small"),
        (0, 3, "worsened"),
        (0, 0, "small"),
    ],
)
def test_a_change_counts_if_its_share_and_its_difference_are_large(base, new, kind):
    assert changes(a=(base, new))[kind] == ["a"]


def test_the_suite_says_what_a_large_change_is():
    fine = LATENCY.model_copy(update={"least_change": 0.001, "least_difference": 0.0})

    assert changes(fine, a=(1_000, 1_001.5))["worsened"] == ["a"]
    assert changes(LATENCY.model_copy(update={"least_change": 0.2}), a=(100, 110))["small"] == ["a"]


def test_other_units_have_no_least_difference():
    assert changes(RATE, a=(0.1, 0.102))["improved"] == ["a"]


def test_a_missing_figure_is_missing_and_no_loss_of_everything():
    assert changes(a=(100, None), b=(None, 100), c=(None, None)) == {
        "worsened": [], "improved": [], "small": [], "missing": ["a", "b"],
    }  # fmt: skip
