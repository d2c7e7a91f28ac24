"""The operations that take most of the time: the number of their calls times their mean time."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from tidemark.figures.version_rates import Quantity, VersionRate
from tidemark.model.labels import labelled_name
from tidemark.model.numerals import MISSING, RULES, percent, supported
from tidemark.report.blocks import Row, Section, Table
from tidemark.report.run_report.measured import MeasuredRun

_EXPLANATION = (
    "An operation takes the number of its calls times their mean time, over all trials that count. "
    "Its share is that of the time of all operations, so the first rows are the biggest contenders."
)
_FEWEST = 2


def contenders(run: MeasuredRun) -> Iterator[Section]:
    """Yield the section of each test's operations by their share of the time, if it has any."""
    groups: defaultdict[tuple[str, str], list[Quantity]] = defaultdict(list)
    for quantity in filter(_is_time, run.quantities):
        name = labelled_name(quantity.metric.name, quantity.axes)
        groups[quantity.test, name].append(quantity)
    tables = tuple(
        _table(run, f"{name} of {test}", quantities)
        for (test, name), quantities in groups.items()
        if len(quantities) >= _FEWEST
    )
    if tables:
        yield Section("Where the time goes", (_EXPLANATION, *tables), details=True)


def _is_time(quantity: Quantity) -> bool:
    """Tell whether a quantity is the mean time of an operation."""
    is_mean = quantity.statistic == "mean" and quantity.metric.unit in RULES.times_units
    return is_mean and bool(_own_labels(quantity))


def _own_labels(quantity: Quantity) -> str:
    """Return the labels of a quantity beside its axes, in words."""
    labels = json.loads(quantity.labels) if quantity.labels else {}
    return ", ".join(text for name, text in labels.items() if name not in quantity.axes)


def _table(run: MeasuredRun, name: str, quantities: Sequence[Quantity]) -> Table:
    rates = {_own_labels(each): run.rates_of(each) for each in quantities}
    versions = dict.fromkeys(rate.version for of_one in rates.values() for rate in of_one)
    totals = [math.fsum(map(_time, of_version)) for of_version in zip(*rates.values(), strict=True)]
    ranked = sorted(rates.items(), key=lambda each: -_time(each[1][-1]))
    figures = tuple(
        f"{what} of {version}" for version in versions for what in ("Calls", "Mean", "Share")
    )
    return Table(
        caption=f"{name} [{quantities[0].metric.unit}], by the share of all time",
        columns=("Operation", *figures),
        rows=tuple(Row((labels, *_cells(of_one, totals))) for labels, of_one in ranked),
        numbers=frozenset(figures),
    )


def _time(rate: VersionRate) -> float:
    return (rate.value or 0.0) * rate.samples


def _cells(rates: Sequence[VersionRate], totals: Sequence[float]) -> Iterator[str]:
    for rate, total in zip(rates, totals, strict=True):
        share = _time(rate) / total if total and rate.value is not None else None
        mean = MISSING if rate.value is None else supported(rate.value, rate.spread)[0]
        yield from (f"{rate.samples:,}", mean, percent(share, 1))
