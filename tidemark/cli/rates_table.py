"""The table of a run's rates, each with its change, interval and verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, cast

from rich import box
from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from tidemark.model.numerals import delta, figure, percent_places, span, supported
from tidemark.report.marks import marked
from tidemark.report.terminal import STYLES

_ANY_WIDTH = 1000  # characters


def fitting(
    rates: Sequence[dict[str, Any]], console: Console, *, exact: bool = False
) -> Sequence[Table]:
    """Return the table of a summary, or one for each metric if the console is too narrow for it."""
    whole = table(rates, exact=exact)
    options = console.options.update(max_width=_ANY_WIDTH)
    if Measurement.get(console, options, whole).maximum <= console.width:
        return [whole]
    return [_of_metric(list(group), exact=exact) for _, group in groupby(rates, _name)]


def table(rates: Sequence[dict[str, Any]], *, exact: bool = False) -> Table:
    """Return the table of a summary.

    If it is not ``exact``, it has the digits that the spreads and intervals support.
    """
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    _add_columns(shown, ("Version", "Metric"), ("Rate", "± spread"))
    _add_columns(shown, ("Unit",), ("Samples", *_change(rates)), ("Verdict",))
    for _, group in groupby(rates, _name):
        shown.add_section()
        for rate in group:
            shown.add_row(
                rate["version"],
                _name(rate),
                *_figures(rate, exact=exact),
                rate["unit"],
                str(rate["samples"]),
                *_judged(rate, exact=exact),
            )
    return shown


def _of_metric(rates: Sequence[dict[str, Any]], *, exact: bool) -> Table:
    """Return the table of one metric below its name, without the numbers of samples."""
    title = Text(f"\n{_name(rates[0])} [{rates[0]['unit']}]", "bold")
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    _add_columns(shown, ("Version",), ("Rate", "± spread", *_change(rates)), ("Verdict",))
    for rate in rates:
        figures, judged = _figures(rate, exact=exact), _judged(rate, exact=exact)
        shown.add_row(rate["version"], *figures, *judged)
    return shown


def _change(rates: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Return the names of the columns of a change."""
    baseline = rates[0]["baseline"] if rates else None
    return f"Δ to {baseline}" if baseline else "Δ before", "95 % interval"


def _add_columns(
    shown: Table, words: Iterable[str], numbers: Iterable[str], more: Iterable[str] = ()
) -> None:
    for names, justify in ((words, "left"), (numbers, "right"), (more, "left")):
        for name in names:
            shown.add_column(name, justify=cast(JustifyMethod, justify), no_wrap=True)


def _name(rate: dict[str, Any]) -> str:
    return str(rate["name"])


def _figures(rate: dict[str, Any], *, exact: bool) -> tuple[str, str]:
    value, spread = rate["value"], rate["spread"]
    if exact or value is None:
        return figure(value), "" if spread is None else figure(spread)
    return supported(value, spread)


def _judged(rate: dict[str, Any], *, exact: bool) -> tuple[str, str, Text]:
    """Return the change that the verdict judges, its interval and the verdict."""
    verdict = rate["verdict"]
    if verdict is None:
        return "", "", Text()
    change, low, high = verdict["effect"], verdict["low"], verdict["high"]
    places = 2 if exact else percent_places(low, high)
    of = rate["direction"], rate["unit"]
    return (
        "" if change is None else delta(change, *of, places),
        "" if low is None or high is None else span(low, high, *of, places),
        _told(verdict["word"], rate["nearer"]),
    )


def _told(word: str, nearer: str) -> Text:
    """Return a verdict, or the end of a search that a version is nearer to."""
    return Text(f"nearer to {nearer}") if nearer else Text(marked(word), STYLES.get(word, ""))
