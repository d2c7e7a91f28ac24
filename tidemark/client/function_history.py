"""The history of functions: share and CPU time in the stored profiles, as metrics like others."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, time
from typing import NamedTuple

from tidemark.client.history import Row
from tidemark.figures.history.changes import Change, judged
from tidemark.figures.history.run_medians import Median, RunMedians, Series
from tidemark.figures.history.untold import Untold
from tidemark.figures.profiles.call_tree import Place, call_tree, share
from tidemark.model.metric import MARGIN
from tidemark.model.profile import Profile
from tidemark.model.run_id import moment
from tidemark.store.bucket import Bucket
from tidemark.store.history import changed_row
from tidemark.store.stored_profile import read_stacks

_ANYWHERE = Place()
_SIZES = "unknown"  # of the trials of a profile


class FunctionHistory(NamedTuple):
    """The figures of functions, in the form of the saved queries of metrics."""

    rows: Sequence[Row]
    """Rows of the form of ``rates_by_version.sql``."""
    changes: Sequence[Row]
    """Rows of the form of ``level_changes.sql``, the newest first."""
    spreads: Sequence[Row]
    """The changes of spread, the oldest first."""
    untold: Sequence[Row]
    """The omissions of the changes of level, as a history of rates has them."""


class _Point(NamedTuple):
    """One figure of one profile."""

    profile: Profile
    series: Series
    value: float


def function_history(
    bucket: Bucket, profiles: Sequence[Profile], functions: Sequence[str]
) -> FunctionHistory:
    """Return the history of functions; one that no profile has is in no row."""
    points = [point for each in profiles for point in _points(bucket, each, functions)]
    # A rare function misses some of a version's samples: its share there is zero.
    found = {(each.series, each.profile.version) for each in points if each.value}
    points = [each for each in points if (each.series, each.profile.version) in found]
    changes, untold = judged(_runs(points))
    rows = list(map(_change, changes))
    return FunctionHistory(
        list(_rows(points)),
        [row for row in reversed(rows) if row["state"] != "spread"],
        [row for row in rows if row["state"] == "spread"],
        [*_untimed(profiles), *(_untold(each) for each in untold if each.sentence)],
    )


def _untimed(profiles: Sequence[Profile]) -> Iterator[Row]:
    """Yield which profiles have no CPU time, if some have one."""
    untimed = sum(profile.seconds is None for profile in profiles)
    if 0 < untimed < len(profiles):
        count = f"{untimed:,} of {len(profiles):,} profiles"
        yield {
            **dict.fromkeys(Series._fields),
            "untold": f"The CPU time leaves out {count}, for which it is not known.",
        }


def _untold(untold: Untold) -> Row:
    series = untold.series._asdict() if untold.series else dict.fromkeys(Series._fields)
    return {**series, "untold": untold.sentence}


def _points(bucket: Bucket, profile: Profile, functions: Sequence[str]) -> Iterator[_Point]:
    tree = call_tree(read_stacks(bucket, profile))
    for name in functions:
        percent = share(tree, name, _ANYWHERE, summed=True) or 0.0
        yield _Point(profile, Series(profile.test, name, "share", "", "%", "lower"), percent)
        if profile.seconds is not None:
            series = Series(profile.test, name, "CPU time", "", "s/M records", "lower")
            yield _Point(profile, series, percent / 100 * profile.seconds)


def _rows(points: Iterable[_Point]) -> Iterator[Row]:
    alike: defaultdict[tuple[Series, str], list[_Point]] = defaultdict(list)
    for point in points:
        alike[point.series, point.profile.version].append(point)
    for (series, version), of_one in alike.items():
        values = [point.value for point in of_one]
        origins = {"measured" if point.profile.run else "imported" for point in of_one}
        yield {
            **series._asdict(),
            "version": version,
            "version_order": of_one[0].profile.version_order,
            "mean": repr(statistics.fmean(values)),
            "stddev": repr(statistics.stdev(values)) if len(values) > 1 else None,
            "min": repr(min(values)),
            "max": repr(max(values)),
            "trials": str(len(values)),
            "last_at": max(point.profile.profiled_on for point in of_one).isoformat(),
            "provenance": origins.pop() if len(origins) == 1 else "mixed",
            "value_text": None,
            "sizes": _SIZES,
        }


def _runs(points: Iterable[_Point]) -> list[RunMedians]:
    """Return the medians of each run, in order; of a run's versions only the newest counts."""
    of_run: defaultdict[tuple[str, ...], list[_Point]] = defaultdict(list)
    for point in points:
        profile = point.profile
        published = (profile.version, profile.profiled_on.isoformat())
        of_run[(profile.run,) if profile.run else published].append(point)
    runs = [_medians(of_one) for of_one in of_run.values()]
    return sorted(runs, key=lambda run: (run.started_at, run.version_order, run.run_id))


def _medians(points: Sequence[_Point]) -> RunMedians:
    newest = max((point.profile for point in points), key=lambda each: each.version_order)
    values: defaultdict[Series, list[float]] = defaultdict(list)
    for point in points:
        if point.profile.version == newest.version:
            values[point.series].append(point.value)
    name = newest.run or min(point.profile.name for point in points)
    published = datetime.combine(newest.profiled_on, time(tzinfo=UTC))
    return RunMedians(
        run_id=name,
        started_at=moment(name) if newest.run else published,
        version=newest.version,
        version_order=newest.version_order,
        canary=None,
        parameters={},
        environment=None,
        medians=tuple(
            Median(series=series, margin=MARGIN, value=statistics.median(found), canary=None)
            for series, found in values.items()
        ),
    )


def _change(change: Change) -> Row:
    row = changed_row(change)
    return {**{name: _text(value) for name, value in row.items()}, "sizes": _SIZES}


def _text(value: object) -> str | None:
    """Return a value as the tables answer it."""
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)
