"""The axes of a suite, which a run varies beside the version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Annotated

from pydantic import BeforeValidator, Field

from tidemark.model.parameters import RESERVED
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shown, there_are
from tidemark.model.subject import VersionText

# CloudWatch knows a figure by stack, suite, test and version; tasks and records are short for
# parameters.
NO_AXES = RESERVED | {"records", "stack", "suite", "tasks", "test"}
"""Names that have another meaning in tasks, in figures or in the input of a run."""
MOST_AXES = 4
MOST_COMBINATIONS = 50


def _text(value: object) -> object:
    """Return a value; YAML reads words such as on, and digits, as other values than texts."""
    if isinstance(value, bool | int | float):
        raise ValueError(f"{shown(value)} is no text; write the value in quotes")
    return value


Text = Annotated[VersionText, BeforeValidator(_text)]
Axis = Annotated[tuple[Text, ...], Field(min_length=1, max_length=20)]
MaybeAxis = Annotated[tuple[Text, ...], Field(max_length=20)]
"""The values of an axis; none leaves it out of a run."""
Axes = Mapping[str, Sequence[str]]
Combination = dict[str, str]
"""A value of each axis, by the axis's name; empty for a suite without axes."""


def combinations(axes: Axes) -> list[Combination]:
    """Return every combination of values; a single empty one without axes."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def count(axes: Axes) -> int:
    """Return the number of combinations."""
    return prod(map(len, axes.values()))


def narrowed(suite: str, declared: Axes, wanted: Axes) -> dict[str, tuple[str, ...]]:
    """Return the axes of a suite with the wanted values alone, in the order of the suite.

    An axis of which no value is wanted is left out.

    Raises
    ------
    Refused
        If the suite has no such axis, or an axis no such value.

    """
    for name, values in wanted.items():
        if name not in declared:
            known = there_are(declared, name)
            if not declared:
                known = "the suite declares no axes; leave it out"
            raise Refused(f"axes: {suite} has no {shown(name)}; {known}")
        if other := [value for value in values if value not in declared[name]]:
            expected = f"expected one or more of {listed(declared[name])}"
            raise Refused(f"axes.{name}: {shown(other[0])} is not accepted; {expected}")
        if len(set(values)) < len(values):
            raise Refused(f"axes.{name}: a value is given twice in {listed(values)}")
    return {
        name: tuple(value for value in values if value in wanted.get(name, values))
        for name, values in declared.items()
        if wanted.get(name, values)
    }


def varied(axes: Axes) -> str:
    """Return axes as the end of a sentence, `` for each database (a, b)``; '' for none."""
    names = (f"{name} ({listed(values)})" for name, values in axes.items())
    return f" for each {' and '.join(names)}" if axes else ""
