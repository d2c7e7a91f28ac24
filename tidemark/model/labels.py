"""The labels of a figure, and the names of figures."""

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

    ``labels`` are canonical. The saved queries name figures in the same way.
    """
    words = (metric, "" if statistic == "mean" else statistic, labels.replace('"', ""))
    return " ".join(word for word in words if word)
