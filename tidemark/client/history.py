"""The rates of every version over all runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

from tidemark.client.tables import Tables
from tidemark.model.labels import figure_name
from tidemark.model.numerals import figure, percent, supported
from tidemark.model.sentences import listed, plural
from tidemark.model.version_order import versions_at

Row = Mapping[str, str | None]
_Key = tuple[str | None, ...]
_T = TypeVar("_T")
_KEY = ("test", "metric", "statistic", "labels", "version", "sizes")
_CAUSES = {
    "version": "",
    "environment": "; the environment changed with it",
    "alternation": "; it goes back and forth between two levels",
}
"""The causes of a change as the end of a sentence."""
NO_TITLES: Mapping[str, str] = {}
_MOST_NAMED = 5
BETTER = " is better)"  # the end of a name that has the unit and the direction
_SERIES = ("test", "metric", "statistic", "labels")
_OF_ALL: _Key = (None,) * len(_SERIES)
_NOT_JUDGED = (
    "Tidemark looks for no change of its level: the metric decides nothing, or no run measured it "
    "in its newest version."
)
NOT_JUDGED = "The changes of level are not judged yet; the report of the next run judges them."
_JUDGED_NEXT: Row = {**dict.fromkeys(_SERIES), "untold": NOT_JUDGED}
_UNTOLD = (
    "SELECT test, metric, statistic, labels, untold FROM changes WHERE suite = ? "
    "AND untold IS NOT NULL AND run_id = (SELECT max(run_id) FROM changes WHERE suite = ?)"
)
_SPREADS = (
    "SELECT test, metric, statistic, labels, changed_run, version, version_before, level_before, "
    "level_after, verdict, cause FROM changes WHERE suite = ? AND state = 'spread' "
    "AND run_id = (SELECT max(run_id) FROM changes WHERE suite = ?) "
    "ORDER BY changed_run, test, metric, statistic, labels"
)
_TRIALS = (
    "SELECT test, metric, statistic, labels, count(*) AS trials, "
    "count_if(coalesce(excluded, false)) AS excluded, "
    "count_if(value IS NULL AND NOT coalesce(excluded, false)) AS without "
    "FROM rates WHERE suite = ? GROUP BY test, metric, statistic, labels"
)
"""The trials of each figure, also trials that the saved query of rates leaves out."""


@dataclass(frozen=True)
class Figure:
    """One metric of one version and size over the trials that are not excluded."""

    test: str
    metric: str
    unit: str
    direction: str
    value: float
    """The mean of the trials' rates [unit]."""
    value_text: str | None
    """The text of a value that was only imported, else None."""
    spread: float | None
    """The standard deviation of the trials' rates (n - 1) [unit], None for one trial."""
    minimum: float
    maximum: float
    trials: int
    provenance: str
    changed_run: str | None
    """The first run on another level, if the level of this size last changed with the version."""
    level_before: float | None
    level_after: float | None
    """The levels on either side of the change."""
    level_unit: str | None
    """The unit of the levels, ``of 8.8.1`` if they are shares of that version, the canary."""
    cause: str | None
    """The cause of the change: ``version``, ``environment`` or ``alternation``."""
    acknowledged_until: str | None
    """The last day on which the new level is accepted."""
    untold: tuple[str, ...]
    """Sentences on what the figure and its changes of level leave out or cannot tell."""

    def text(self, *, exact: bool) -> str:
        """Return the figure as text: as imported, or else with its spread.

        If it is not ``exact``, it has the digits that the spread supports.
        """
        if self.value_text is not None:
            return self.value_text
        value, spread = supported(self.value, self.spread)
        if exact:
            value, spread = figure(self.value), figure(self.spread or 0.0)
        return value if self.spread is None else f"{value} ± {spread} ({self.trials} trials)"


@dataclass(frozen=True)
class VersionHistory:
    """The figures of one version, from trials of one size."""

    version: str
    last_at: date
    """The day of the last trial, UTC."""
    sizes: str
    """Tasks and records as ``1 × 1,000,000``, or the parameters; ``unknown`` for imports."""
    figures: Mapping[str, Figure]
    """The figures by the name of their column."""

    def lines(self) -> list[dict[str, str | None]]:
        """Return the lines of CSV, one for each figure; numbers have no separators of thousands."""
        return [
            {
                "version": self.version,
                "last_at": self.last_at.isoformat(),
                "sizes": self.sizes,
                "figure": name,
                **{field: _csv_text(value) for field, value in vars(figure).items()},
            }
            for name, figure in self.figures.items()
        ]

    def record(self) -> dict[str, Any]:
        """Return the version as a JSON object."""
        figures = {name: vars(figure) for name, figure in self.figures.items()}
        return {
            "version": self.version,
            "last_at": self.last_at.isoformat(),
            "sizes": self.sizes,
            "metrics": figures,
        }


def _csv_text(value: object) -> str | None:
    if isinstance(value, tuple):
        return " ".join(value)
    return None if value is None else str(value)


def untold(tables: Tables, suite: str, rates: Sequence[Row]) -> list[Row]:
    """Return what a suite's history leaves out and cannot tell: a sentence for a figure, or all.

    ``rates`` are the rows of ``rates_by_version.sql``. A row for all figures has no metric.
    """
    counted: Counter[_Key] = Counter()
    for row in rates:
        counted[series_of(row)] += int(_text(row, "trials"))
    trials = tables.ask(_TRIALS, [suite]).records()
    parts = ((row, _parts_left_out(row, counted[series_of(row)])) for row in trials)
    left_out = [{**row, "untold": f"the figures leave out {text}."} for row, text in parts if text]
    silent = judged_figures(tables, suite)
    # Each history that is judged has a row at least, and so has each of its figures.
    if not silent and rates:
        return [*left_out, _JUDGED_NEXT]
    judged = {series_of(row) for row in silent}
    others = {series_of(row): row for row in rates if series_of(row) not in judged}
    told = [row for row in silent if row["untold"]]
    return [*left_out, *told, *({**row, "untold": _NOT_JUDGED} for row in others.values())]


def judged_figures(tables: Tables, suite: str) -> Sequence[Row]:
    """Return a row or more for each figure whose history is judged, with what is not told of it.

    A row for all figures has no metric.
    """
    return tables.ask(_UNTOLD, [suite, suite]).records()


def _parts_left_out(row: Row, counted: int) -> str:
    excluded, without = (int(_text(row, name)) for name in ("excluded", "without"))
    older = int(_text(row, "trials")) - excluded - without - counted
    parts = [
        f"{plural(count, f'{before}trial')}{after}"
        for count, before, after in (
            (excluded, "excluded ", ""),
            (without, "", " without a rate"),
            (older, "", " with an image that later runs of the version no longer use"),
        )
        if count
    ]
    return listed(parts)


def untold_sentences(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the sentences on what is left out, each once with the names of its figures."""
    figures: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        figures[_text(row, "untold")] |= {figure_of(row): None} if row["metric"] else {}
    for text, of_text in figures.items():
        names = list(of_text)
        more = len(names) - _MOST_NAMED
        named = listed(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        yield f"{named}: {text}" if names else text


def histories(
    rows: Sequence[Row], changes: Sequence[Row] = (), untold: Sequence[Row] = ()
) -> list[VersionHistory]:
    """Return the versions of one suite in order, each once for every size of its trials.

    ``rows`` are from ``rates_by_version.sql``, ``changes`` from ``level_changes.sql``, and
    ``untold`` what they leave out.
    """
    ordered = sorted(rows, key=lambda row: (_text(row, "version_order"), _text(row, "version")))
    alike: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in ordered:
        alike[_text(row, "version"), _text(row, "sizes")].append(row)
    shared = (
        _of_several(ordered, figure_of, "test"),
        _of_several(ordered, series_of, "unit", "direction"),
    )
    # The newest change comes first, and stays.
    changed = {_key(row): row for row in reversed(changes)}
    silent: defaultdict[_Key, list[str]] = defaultdict(list)
    for row in untold:
        silent[series_of(row)].append(_text(row, "untold"))
    return [
        _history(version, of_one, shared, changed, silent) for (version, _), of_one in alike.items()
    ]


def sentences(changes: Sequence[Row]) -> Iterator[str]:
    """Yield the changes of level in words, from rows of ``level_changes.sql``, the oldest first.

    A change that mends a slower level, or ends a short one, is in the sentence of that level.
    """
    mending = {
        (*series_of(row), row["mended_run"])
        for row in changes
        if row["mended_run"] and (row["verdict"] == "slower" or row["state"] == "new")
    }
    for row in reversed(changes):
        if (*series_of(row), row["changed_run"]) not in mending:
            yield sentence(row)


def sentence(change: Row) -> str:
    """Return a change of level in words, from a row of ``level_changes.sql``."""
    before, after = (figure(float(_text(change, f"level_{side}"))) for side in ("before", "after"))
    because = _CAUSES[_text(change, "cause")]
    if until := change["acknowledged_until"]:
        because += f"; accepted until {until}: {change['acknowledged_reason']}"
    levels = f"{after} instead of {before} {change['unit']}"
    return f"{figure_of(change)} {_event(change)}: {levels}{because}."


def _event(change: Row) -> str:
    """Return what happened to a figure, as the middle of a sentence."""
    size = change["change"]
    share = "" if size is None else f"{percent(abs(float(size)))} "
    word, version, run = (_text(change, name) for name in ("verdict", "version", "changed_run"))
    at = versions_at(version, _text(change, "version_before"))
    if change["state"] == "drift":
        return _drift(change, share)
    if change["state"] == "suspected":
        family = int(_text(change, "family"))
        among = f" among {family:,} figures" if family > 1 else ""
        return f"is suspected to be {share}{word}{among} in run {run} ({at})"
    if mended := change["mended_version"]:
        ended = "mended in" if word == "slower" else "until"
        last = change["last_version"]
        span = f"in {version} alone" if last == version else f"from {version} to {last}"
        return f"was {share}{word} {span}, {ended} {mended}"
    return f"has been {share}{word} since run {run} ({at})"


def spreads(tables: Tables, suite: str) -> Sequence[Row]:
    """Return the changes of spread of a suite's figures, the oldest first.

    The levels of a row are standard deviations, as shares of the figures.
    """
    return tables.ask(_SPREADS, [suite, suite]).records()


def spread_sentence(change: Row) -> str:
    """Return a change of spread in words."""
    before, after = (percent(float(_text(change, f"level_{side}"))) for side in ("before", "after"))
    word, version, run = (_text(change, name) for name in ("verdict", "version", "changed_run"))
    at = versions_at(version, _text(change, "version_before"))
    around = f"its figures scatter by {after} around their level instead of {before}"
    test = f"by the Fligner-Killeen test{_CAUSES[_text(change, 'cause')]}"
    return f"{figure_of(change)} has been {word} since run {run} ({at}): {around}, {test}."


def _drift(change: Row, share: str) -> str:
    each, word = float(_text(change, "each")), change["verdict"]
    step = percent(abs(each)) if share else f"{figure(abs(each))} {change['unit']}"
    first, last = change["version"], change["last_version"]
    whole = f", {share}in all" if share else ""
    if last is None:
        return f"has become {step} {word} a release since {first}{whole}"
    return f"became {step} {word} a release from {first} to {last}{whole}"


def columns(versions: Sequence[VersionHistory], titles: Mapping[str, str] = NO_TITLES) -> list[str]:
    """Return the names of all figures: those with titles in the titles' order, then the others."""
    order = list(titles)
    names = {name for version in versions for name in version.figures}
    return sorted(
        names, key=lambda name: (order.index(name) if name in titles else len(order), name)
    )


def heading(
    name: str, versions: Sequence[VersionHistory], titles: Mapping[str, str] = NO_TITLES
) -> str:
    """Return a column's heading: ``Compaction rate (records/s)``; ``titles`` has the words."""
    unit = next(version.figures[name].unit for version in versions if name in version.figures)
    metric, space, rest = name.partition(" ")
    words = titles.get(name, f"{metric.replace('_', ' ').capitalize()}{space}{rest}")
    return words if words.endswith(BETTER) else f"{words} ({unit})"


def _of_several(rows: Sequence[Row], key: Callable[[Row], _T], *columns: str) -> Set[_T]:
    """Return the keys of rows that have more than one value in some columns."""
    values: defaultdict[_T, set[_Key]] = defaultdict(set)
    for row in rows:
        values[key(row)].add(tuple(row[column] for column in columns))
    return {each for each, of_key in values.items() if len(of_key) > 1}


def _history(
    version: str,
    rows: Sequence[Row],
    shared: tuple[Set[str], Set[_Key]],
    changed: Mapping[_Key, Row],
    silent: Mapping[_Key, Sequence[str]],
) -> VersionHistory:
    days = [datetime.fromisoformat(_text(row, "last_at")).date() for row in rows]
    of_all = silent.get(_OF_ALL, ())
    figures = {
        _column(row, shared): _figure(
            row, changed.get(_key(row), {}), (*of_all, *silent.get(series_of(row), ()))
        )
        for row in rows
    }
    return VersionHistory(version, max(days), _text(rows[0], "sizes"), figures)


def _column(row: Row, shared: tuple[Set[str], Set[_Key]]) -> str:
    """Return the name of a figure, with its test and its unit if other figures have the name."""
    name, (by_tests, by_units) = figure_of(row), shared
    test = f"{_text(row, 'test')} " if name in by_tests else ""
    unit = (
        f" ({_text(row, 'unit')}, {_text(row, 'direction')}{BETTER}"
        if series_of(row) in by_units
        else ""
    )
    return f"{test}{name}{unit}"


def figure_of(row: Row) -> str:
    """Return the name of a row's figure."""
    return figure_name(_text(row, "metric"), _text(row, "statistic"), row["labels"] or "")


def _key(row: Row) -> _Key:
    return tuple(row[column] for column in _KEY)


def series_of(row: Row) -> _Key:
    """Return the names that tell a row's figure from any other of its suite."""
    return tuple(row[column] for column in _SERIES)


def _figure(row: Row, change: Row, untold: tuple[str, ...]) -> Figure:
    return Figure(
        test=_text(row, "test"),
        metric=_text(row, "metric"),
        unit=_text(row, "unit"),
        direction=_text(row, "direction"),
        value=float(_text(row, "mean")),
        value_text=row["value_text"],
        spread=_number(row["stddev"]),
        minimum=float(_text(row, "min")),
        maximum=float(_text(row, "max")),
        trials=int(_text(row, "trials")),
        provenance=_text(row, "provenance"),
        changed_run=change.get("changed_run"),
        level_before=_number(change.get("level_before")),
        level_after=_number(change.get("level_after")),
        level_unit=change.get("unit"),
        cause=change.get("cause"),
        acknowledged_until=change.get("acknowledged_until"),
        untold=untold,
    )


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def _text(row: Row, column: str) -> str:
    value = row[column]
    assert value is not None, f"{column} is NULL"
    return value
