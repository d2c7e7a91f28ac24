"""The table of a run's rates, each with its change, interval and verdict."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from tidemark.model.labels import figure_name
from tidemark.model.numerals import delta, percent_places, span, supported
from tidemark.report.marks import marked
from tidemark.report.numbers import MISSING, figure

STYLES = {"slower": "bold red", "faster": "bold green", "cannot tell": "yellow"}
"""The style of each verdict on a terminal that has colours."""


def table(rates: list[dict[str, Any]], *, exact: bool = False) -> Table:
    """Return the table of a summary.

    If it is not ``exact``, it has the digits that the spreads and intervals support.
    """
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("Version", "Metric"):
        shown.add_column(name, no_wrap=True)
    for name in ("Rate", "± spread"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("Unit", no_wrap=True)
    for name in ("Samples", "Δ before", "95 % interval"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("Verdict", no_wrap=True)
    before = None
    for rate in rates:
        # Older summaries have means without labels.
        name = figure_name(rate["metric"], rate.get("statistic", "mean"), rate.get("labels", ""))
        if before not in {None, name}:
            shown.add_section()
        before = name
        value, spread = (_all_digits if exact else _figures)(rate["value"], rate["spread"])
        shown.add_row(
            rate["version"],
            name,
            value,
            spread,
            rate["unit"],
            str(rate["samples"]),
            *_judged(rate, exact=exact),
        )
    return shown


def _figures(value: float | None, spread: float | None) -> tuple[str, str]:
    return (MISSING, "") if value is None else supported(value, spread)


def _all_digits(value: float | None, spread: float | None) -> tuple[str, str]:
    return figure(value), "" if spread is None else figure(spread)


def _judged(rate: dict[str, Any], *, exact: bool) -> tuple[str, str, Text]:
    """Return the change that the verdict judges, its interval and the verdict.

    Older summaries have no verdict, and the change of the means alone.
    """
    verdict = rate.get("verdict")
    change = verdict["effect"] if verdict else rate["change"]
    low, high = (verdict["low"], verdict["high"]) if verdict else (None, None)
    places = 2 if exact else percent_places(low, high)
    of = rate.get("direction", ""), rate["unit"]
    return (
        "" if change is None else delta(change, *of, places),
        "" if low is None or high is None else span(low, high, *of, places),
        Text(marked(verdict["word"]), STYLES.get(verdict["word"], "")) if verdict else Text(),
    )
