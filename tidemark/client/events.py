"""The events of a suite's history: what each release changed, over all its figures."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tidemark.client.history import (
    NOT_JUDGED,
    Row,
    figure_of,
    judged_figures,
    sentence,
    sentences,
    series_of,
    spread_sentence,
    spreads,
    untold_sentences,
)
from tidemark.client.tables import Tables, ask_saved
from tidemark.model.checkout import written_suites
from tidemark.model.numerals import percent_change
from tidemark.model.sentences import listed, plural

_MOST_NAMED = 5
_FEW = 8
"""The most figures whose changes have a sentence each."""
_MOST_OPEN = 3
_EVIDENCE = {
    "confirmed": "Two runs",
    "new": "Three runs or more",
    "lasting": "Eight runs or more",
    "drift": "Twelve releases or more",
}
"""The evidence of an open regression, by its state."""
_ORDER = ("slower", "faster")


class Event(NamedTuple):
    """The changes of level at one run."""

    version: str
    run_id: str
    changes: Sequence[Row]
    """The rows of ``level_changes.sql``, the largest change first."""

    def of(self, verdict: str) -> list[Row]:
        """Return the changes of a verdict."""
        return [row for row in self.changes if row["verdict"] == verdict]

    def record(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {
            "version": self.version,
            "run": self.run_id,
            **{
                word: {"figures": len(rows), "median_change": _median(rows)}
                for word in _ORDER
                for rows in [self.of(word)]
            },
            "changes": [dict(row) for row in self.changes],
        }


def events(changes: Sequence[Row]) -> list[Event]:
    """Return the events of changes of level, the oldest first; drifts and suspicions are none."""
    by_run: defaultdict[str, list[Row]] = defaultdict(list)
    for row in changes:
        if row["state"] not in {"drift", "suspected"}:
            by_run[row["changed_run"] or ""].append(row)
    return [_event(rows) for _, rows in sorted(by_run.items())]


def _event(rows: Sequence[Row]) -> Event:
    first = rows[0]
    ordered = sorted(rows, key=size, reverse=True)
    return Event(first["version"] or "", first["changed_run"] or "", ordered)


def size(change: Row) -> float:
    """Return how large a change is, in either direction; one from zero is the largest."""
    if change["change"] is None:
        return float("inf")
    ratio = 1 + float(change["change"])
    return max(ratio, 1 / ratio) if ratio > 0 else float("inf")


def open_changes(changes: Sequence[Row]) -> list[Row]:
    """Return the regressions that nobody mended or accepted, the largest first."""
    return sorted((row for row in changes if row["is_open"] == "true"), key=size, reverse=True)


def open_sentences(changes: Sequence[Row]) -> Iterator[str]:
    """Yield each open regression, the largest first: its size, its evidence and the next step."""
    for row in open_changes(changes):
        is_drift = row["state"] == "drift"
        way = "since {version_before}" if is_drift else "from {version_before} to {version}"
        alone = ", and none alone is to blame" if is_drift else ""
        yield (
            f"{sentence(row)} {_EVIDENCE[row['state'] or '']} show it{alone}. "
            f"Find out what changed {way.format_map(row)}, or accept it with a reason: "
            f"`tidemark acknowledge {row['changed_run']}`."
        )


def open_by_suite(tables: Tables) -> dict[str, list[str]]:
    """Return the largest open regressions of each suite in words, and how many more there are."""
    by_suite: defaultdict[str, list[Row]] = defaultdict(list)
    for row in ask_saved(tables, "level_changes").records():
        by_suite[row["suite"] or ""].append(row)
    found = {suite: list(open_sentences(rows)) for suite, rows in by_suite.items()}
    return {
        suite: [*told[:_MOST_OPEN], *([f"And {more:,} more."] if more > 0 else [])]
        for suite, told in found.items()
        for more in [len(told) - _MOST_OPEN]
        if told
    }


def answer(tables: Tables, suite: str, *, only_open: bool = False) -> list[str]:
    """Return what the history of a suite says: a sentence a change, or an event for each release.

    Few figures have a sentence each, and so has each open regression if these are asked for alone.
    What the history leaves out or cannot tell follows: nothing is said not to have changed that
    nobody judged.
    """
    changes = ask_saved(tables, "level_changes", {"suite": suite}).records()
    judged = judged_figures(tables, suite)
    figures = len({series_of(row) for row in judged if row["metric"]})
    told = sentences(changes) if figures <= _FEW else event_sentences(changes, figures)
    none = f"No level of {plural(figures, 'figure')} changed."
    scattered = map(spread_sentence, [] if only_open else spreads(tables, suite))
    if only_open:
        told = open_sentences(changes)
        none = f"No level of {plural(figures, 'figure')} is an open regression."
    found = [
        *(list(told) or ([none] if figures else [])),
        *scattered,
        *untold_sentences([row for row in judged if row["untold"]]),
        *confirming(changes, suite),
    ]
    return found or [NOT_JUDGED]


def confirming(changes: Sequence[Row], suite: str) -> Iterator[str]:
    """Yield how the suspicions of the newest run are confirmed: by a run, if one can measure it."""
    suspected = [row for row in changes if row["state"] == "suspected"]
    if suspected and suite in written_suites():
        versions = f"{suspected[0]['version_before']},{suspected[0]['version']}"
        command = f"`tidemark run {suite} --versions {versions} --until decided`"
        yield f"The next release confirms a suspicion, or {command} does."
    elif suspected:
        yield "The next release confirms a suspicion, or shows that it is gone."


def event_sentences(changes: Sequence[Row], figures: int) -> Iterator[str]:
    """Yield a sentence for each event of a suite with a number of figures, the oldest first.

    Drifts and suspicions follow.
    """
    for event in events(changes):
        yield f"{event.version}: {_parts(event, figures)}."
    yield from (sentence(row) for row in changes if row["state"] == "drift")
    if suspected := [row for row in changes if row["state"] == "suspected"]:
        event = _event(suspected)
        yield f"{event.version}, suspected of one run alone: {_parts(event, figures)}."


def _parts(event: Event, figures: int) -> str:
    parts = (_part(word, rows, figures) for word in _ORDER if (rows := event.of(word)))
    return "; ".join(parts)


def _part(word: str, rows: Sequence[Row], figures: int) -> str:
    median = _median(rows)
    middle = "" if median is None else f" (median {percent_change(median)})"
    named = listed(map(_named, rows[:_MOST_NAMED]))
    more = len(rows) - _MOST_NAMED
    rest = f" and {more:,} more" if more > 0 else ""
    return f"{len(rows):,} of {figures:,} figures {word}{middle}: {named}{rest}"


def _named(row: Mapping[str, str | None]) -> str:
    change = row["change"]
    share = "from zero" if change is None else percent_change(float(change))
    ended = "mended in" if row["verdict"] == "slower" else "until"
    until = f" ({ended} {row['mended_version']})" if row["mended_version"] else ""
    return f"{figure_of(row)} {share}{until}"


def _median(rows: Sequence[Row]) -> float | None:
    shares = [float(row["change"]) for row in rows if row["change"] is not None]
    return statistics.median(shares) if shares else None
