"""The import of published figures: which are new, stored already or in conflict, and their storage.

Figures may be put into the order of their commits in Git.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, date, datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tidemark.client.deployed import Stored
from tidemark.client.published.own_figures import Known
from tidemark.client.published.release_figure import ReleaseFigure
from tidemark.client.tables import Tables
from tidemark.model.labels import canonical
from tidemark.model.plan import Import
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, plural, shown
from tidemark.model.version_order import version_order
from tidemark.store.imported_run import ImportedFigure, Release, write_release

_IMPORTED = (
    "SELECT version, started_at, test, metric, labels, value, value_text, run_id, excluded "
    "FROM rates WHERE suite = ? AND provenance = 'imported' AND value IS NOT NULL"
)
_CUT_OFF = (
    "SELECT run_id FROM runs WHERE suite = ? AND trigger = 'import' "
    "AND run_id NOT IN (SELECT run_id FROM rates WHERE suite = ?) ORDER BY run_id"
)
_METRICS = (
    "SELECT DISTINCT metric, unit, direction FROM rates WHERE suite = ? AND provenance = 'imported'"
)
_FEW = 50
"""The most versions whose figures are asked for by name, and not with all of their suite."""
_KEY = ("version", "test", "metric", "labels")
_Key = tuple[str, ...]


class _Stored(NamedTuple):
    tested_on: date
    value: float
    text: str
    run_id: str
    is_excluded: bool


class Conflict(NamedTuple):
    """A figure of a file that differs from the stored one in its value or in its day."""

    figure: ReleaseFigure
    text: str
    """The stored figure."""
    tested_on: date
    run_id: str

    @property
    def sentence(self) -> str:
        """The conflict in words."""
        figure = self.figure
        return (
            f"{figure.name} is {figure.amount.text} in line {figure.line}; the stored figure "
            f"stays: {self.text} of {self.tested_on}, in run {self.run_id}"
        )


class Differences(NamedTuple):
    """The figures of a file beside those that are stored."""

    new: Sequence[ReleaseFigure]
    known: int
    """The number of figures that are stored already."""
    excluded: int
    """The number of figures that are stored, but excluded, so that they do not count."""
    conflicts: Sequence[Conflict]


def differences(tables: Tables, suite: str, figures: Iterable[ReleaseFigure]) -> Differences:
    """Return which figures of a file are new, and which conflict with stored figures.

    The figure of a version and a day conflicts with another value of that day, and with the same
    value of another day: the file then has another date for it. An excluded figure is not added
    again, and another one may replace it.
    """
    listed = list(figures)
    stored = _stored(tables, suite, {each.version for each in listed})
    new, known, conflicts = list[ReleaseFigure](), 0, list[Conflict]()
    excluded, replaced = list[tuple[ReleaseFigure, str]](), set[str]()
    days: defaultdict[str, set[date]] = defaultdict(set)
    for figure in listed:
        days[figure.version].add(figure.tested_on)
    for figure in listed:
        metric, both = figure.metric, (figure.tested_on, figure.amount.value)
        key = figure.version, metric.test, metric.metric, canonical(metric.axes)
        of_version = stored.get(key, [])
        same = [each for each in of_version if (each.tested_on, each.value) == both]
        counted = [each for each in of_version if not each.is_excluded]
        if not {*same}.isdisjoint(counted):
            known += 1
        elif other := _other(counted, figure, has_one_day=len(days[figure.version]) == 1):
            conflicts.append(Conflict(figure, other.text, other.tested_on, other.run_id))
        elif same:
            excluded.append((figure, same[0].run_id))
        else:
            new.append(figure)
            replaced |= {each.run_id for each in of_version}
    # A release is excluded with all its figures, and a correction brings the others back.
    again = [figure for figure, run_id in excluded if run_id in replaced]
    return Differences([*new, *again], known, len(excluded) - len(again), conflicts)


def _other(
    stored: Sequence[_Stored], figure: ReleaseFigure, *, has_one_day: bool
) -> _Stored | None:
    """Return the stored figure in the way; a branch of many days may have a value twice."""
    of_day = [each for each in stored if each.tested_on == figure.tested_on]
    of_value = [each for each in stored if has_one_day and each.value == figure.amount.value]
    return next(iter(of_day or of_value), None)


def _stored(tables: Tables, suite: str, versions: Set[str]) -> Mapping[_Key, list[_Stored]]:
    found: dict[_Key, list[_Stored]] = {}
    few = sorted(versions) if len(versions) <= _FEW else []
    marks = f" AND version IN ({', '.join('?' * len(few))})" if few else ""
    for row in tables.ask(f"{_IMPORTED}{marks}", [suite, *few]).records():
        key = tuple(row[name] or "" for name in _KEY)
        value = row["value"] or ""
        figure = _Stored(
            datetime.fromisoformat(row["started_at"] or "").date(),
            float(value),
            row["value_text"] or value,
            row["run_id"] or "",
            row["excluded"] == "true",
        )
        found.setdefault(key, []).append(figure)
    return found


def releases(
    figures: Iterable[ReleaseFigure], new: Iterable[ReleaseFigure], origin: Import
) -> Iterator[Release]:
    """Yield the releases of new figures in the order of their days and versions.

    All figures of the file tell the order of a day: its runs have the same names once some of them
    are stored.
    """
    added, listed = {each.key for each in new}, list(figures)
    versions = dict.fromkeys(each.version for each in listed)
    places = {
        # Versions of unknown order come as the file has them.
        version: ("" if origin.as_typed else version_order(version, packaged=False), place)
        for place, version in enumerate(versions)
    }

    def order(figure: ReleaseFigure) -> tuple[date, tuple[str, int]]:
        return figure.tested_on, places[figure.version]

    for tested_on, of_day in groupby(sorted(listed, key=order), key=lambda each: each.tested_on):
        of_versions = groupby(of_day, key=lambda each: each.version)
        for place, (version, group) in enumerate(of_versions):
            if of_release := [each for each in group if each.key in added]:
                line = min(each.line for each in of_release)
                yield Release(
                    version,
                    tested_on,
                    place,
                    list(_imported(of_release)),
                    origin.model_copy(update={"line": line}),
                )


def _imported(figures: Iterable[ReleaseFigure]) -> Iterator[ImportedFigure]:
    """Yield the figures of a release; several of one metric are its trials, in their order."""
    trials: Counter[tuple[str, str]] = Counter()
    for figure in figures:
        metric, amount = figure.metric, figure.amount
        trials[metric.test, metric.name] += 1
        number = trials[metric.test, metric.name]
        yield ImportedFigure(
            metric,
            amount.text,
            amount.value,
            amount.spread,
            amount.samples,
            number,
            figure.environment,
        )


def stored_metrics(tables: Tables, suite: str) -> dict[str, Known]:
    """Return the unit and direction of each metric that an import stored, by its name."""
    return {
        row["metric"] or "": Known(row["unit"] or "", "higher" if higher else "lower")
        for row in tables.ask(_METRICS, [suite]).records()
        for higher in [row["direction"] == "higher"]
    }


def finish(target: Stored, suite: str) -> None:
    """Store what imports that were cut off left out.

    Their figures count from then on, so that a corrected file conflicts with them.
    """
    runs = [row["run_id"] or "" for row in target.tables.ask(_CUT_OFF, [suite, suite]).records()]
    _publish(target, runs)


def store(target: Stored, suite: str, title: str, found: Sequence[Release]) -> list[str]:
    """Store releases; return the names of their runs."""
    runs = [write_release(target.bucket, suite, title, release) for release in found]
    _publish(target, runs)
    return runs


def _publish(target: Stored, runs: Sequence[str]) -> None:
    """Write what follows from releases; their rates complete them."""
    if runs:
        target.publisher.imported(runs)
        target.publisher.refresh()


_DESCRIBED = re.compile(r".*-[0-9]+-g([0-9a-f]{7,40})")
_MOST_NAMED = 5


def in_git_order(repository: Path, figures: Sequence[ReleaseFigure]) -> list[ReleaseFigure]:
    """Return figures in the order of their commits, with the days of these.

    A parent comes before its children. No commit has a day before the day of an earlier commit.

    Raises
    ------
    Refused
        If a version is not a commit of the repository.

    """
    commits = _commits(repository, dict.fromkeys(figure.version for figure in figures))
    days = _days(repository, commits.values())
    order = {commit: place for place, commit in enumerate(days)}
    return [
        figure._replace(tested_on=days[commits[figure.version]])
        for figure in sorted(figures, key=lambda each: order[commits[each.version]])
    ]


def _commits(repository: Path, versions: Iterable[str]) -> dict[str, str]:
    """Return the commit of each version: an id, a tag with or without v, or ``git describe``."""
    names = list(versions)
    asked = [name for version in names for name in _revisions(version)]
    answers = _git(repository, ["cat-file", "--batch-check=%(objectname)"], "\n".join(asked))
    found = dict(zip(asked, answers, strict=True))
    commits: dict[str, str] = {}
    for version in names:
        ids = [found[name] for name in _revisions(version)]
        if known := next((each for each in ids if re.fullmatch("[0-9a-f]{40,64}", each)), None):
            commits[version] = known
    if missing := [version for version in names if version not in commits]:
        more = len(missing) - _MOST_NAMED
        named = listed(missing[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        there = plural(len(missing), "version")
        raise Refused(f"--repo: {shown(repository.name)} has no commits of {there}: {named}")
    return commits


def _revisions(version: str) -> list[str]:
    match = _DESCRIBED.fullmatch(version)
    names = [match[1]] if match else [version, f"v{version}"]
    return [f"{name}^{{commit}}" for name in names]


def _days(repository: Path, commits: Iterable[str]) -> dict[str, date]:
    """Return the day of each commit, UTC, in the order of the history."""
    wanted, latest = {*commits}, date.min
    arguments = ["log", "--topo-order", "--reverse", "--format=%H %ct", "--stdin"]
    days: dict[str, date] = {}
    for line in _git(repository, arguments, "\n".join(sorted(wanted))):
        commit, _, seconds = line.partition(" ")
        if commit in wanted:
            latest = max(latest, datetime.fromtimestamp(int(seconds), UTC).date())
            days[commit] = latest
    return days


def _git(repository: Path, arguments: Sequence[str], text: str) -> list[str]:
    command = ["git", "-C", str(repository), *arguments]
    try:
        done = subprocess.run(
            command, check=False, input=f"{text}\n", capture_output=True, text=True
        )
    except OSError as error:
        raise Refused(f"--repo: Git cannot be started: {error.strerror}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["Git failed"])[-1]
        raise Refused(f"--repo: {shown(str(repository))}: {last}")
    return done.stdout.splitlines()
