"""The labels of a figure, and the names of figures: no models, which take long to import."""

from __future__ import annotations

import json
from collections.abc import Mapping


def canonical(labels: Mapping[str, str]) -> str:
    """Return labels as JSON with sorted names, '' without labels: equal labels give equal texts."""
    return json.dumps(labels, sort_keys=True, ensure_ascii=False) if labels else ""


def labelled_name(name: str, labels: Mapping[str, str]) -> str:
    """Return a name with labels, such as ``9.8.4 {database: mariadb}``."""
    return figure_name(name, "mean", canonical(labels))


def figure_name(metric: str, statistic: str, labels: str) -> str:
    """Return the name of a figure, such as ``latency p99 {operation: create}``.

    ``labels`` are canonical.
    """
    words = (metric, "" if statistic == "mean" else statistic, labels.replace('"', ""))
    return " ".join(word for word in words if word)


def figure_title(test: str, metric: str, statistic: str, labels: str, unit: str) -> str:
    """Return a figure as people name it, such as ``compaction rate (records/s)``.

    The test stands before the name of a metric that does not begin with it.
    """
    of_test = "" if metric.startswith(test) else f"{test} "
    return f"{of_test}{figure_name(metric.replace('_', ' '), statistic, labels)} ({unit})"
