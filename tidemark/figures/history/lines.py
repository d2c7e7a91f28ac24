"""The release lines of a history: patches of 1.9 beside 2.0 have a history of their own.

The main line has the runs whose version is at least as new as that of every earlier run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tidemark.figures.history.newest import FEWEST
from tidemark.figures.history.run_medians import RunMedians
from tidemark.model.version_order import release_numbers, release_order

_OLDER = "an earlier run measured a newer version"


class Lines(NamedTuple):
    """The runs of a history by their release line, each in order."""

    main: list[RunMedians]
    others: dict[str, list[RunMedians]]
    """The lines beside the main one by name, such as ``1.9``. They begin with runs of the main
    line."""
    left_out: Mapping[str, Sequence[RunMedians]]
    """The runs that no line has, by the reason."""


def release_lines(runs: Sequence[RunMedians]) -> Lines:
    """Return the lines of a history's runs."""
    main, newest = list[RunMedians](), ""
    beside: defaultdict[tuple[int, ...], list[RunMedians]] = defaultdict(list)
    left_out: defaultdict[str, list[RunMedians]] = defaultdict(list)
    for run in runs:
        order = release_order(run.version_order)
        if not run.medians:
            left_out["no trial of their newest version counts"].append(run)
        elif run.version == run.canary:
            left_out["they measured no version but the canary"].append(run)
        elif order is not None and order < newest:
            beside[_line(release_numbers(order), release_numbers(newest))].append(run)
        else:
            newest = order or newest
            main.append(run)
    others = {}
    for key, of_line in beside.items():
        ascending, older = _ascending([*_begun(main, key, of_line[0]), *of_line])
        if len(ascending) <= FEWEST:
            left_out[_OLDER] += of_line
        else:
            others[".".join(map(str, key))] = ascending
            left_out[_OLDER] += older
    return Lines(main, others, {reason: some for reason, some in left_out.items() if some})


def _line(numbers: Sequence[int], newest: Sequence[int]) -> tuple[int, ...]:
    """Return the first numbers of a version, up to the one that the newest version differs in."""
    pairs = enumerate(zip(numbers, newest, strict=False), start=1)
    return tuple(numbers[: next((place for place, (one, other) in pairs if one != other), None)])


def _begun(main: Sequence[RunMedians], key: tuple[int, ...], first: RunMedians) -> list[RunMedians]:
    """Return the runs of a line before it left the main one."""
    return [
        run
        for run in main
        if run.run_id < first.run_id
        and (order := release_order(run.version_order)) is not None
        and release_numbers(order)[: len(key)] == key
    ]


def _ascending(runs: Sequence[RunMedians]) -> tuple[list[RunMedians], list[RunMedians]]:
    """Return the runs whose version is as new as all before it, and the others."""
    ascending, older, newest = list[RunMedians](), list[RunMedians](), ""
    for run in runs:
        order = release_order(run.version_order) or ""
        (older if order < newest else ascending).append(run)
        newest = max(newest, order)
    return ascending, older
