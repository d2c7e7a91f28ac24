"""The labels of figures as columns of a table, so that names differ where people read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from tidemark.figures.version_rates import Quantity


def label_columns(quantities: Iterable[Quantity]) -> tuple[str, ...]:
    """Return the names of all labels, in the order in which figures have them."""
    return tuple(dict.fromkeys(name for each in quantities for name in _labels(each)))


def label_cells(quantity: Quantity, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of a figure by column, '' for a label that it lacks."""
    labels = _labels(quantity)
    return tuple(labels.get(name, "") for name in columns)


def without_labels(quantity: Quantity) -> Quantity:
    """Return a quantity whose names have no labels."""
    return quantity._replace(labels="")


def _labels(quantity: Quantity) -> dict[str, str]:
    return json.loads(quantity.labels) if quantity.labels else {}
