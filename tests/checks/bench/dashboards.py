"""Times of the page of ``tidemark dashboard`` over runs from earlier clouds.

Each round starts a new cloud over one folder. The round adds a run of every suite to each number of
runs and then builds the page twice. At the end, pages are built without kept table rows, as for
objects from another source.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from onebox.cloud.cloud import start_cloud
from tests.checks.bench import stores
from tidemark.client.tables import Tables
from tidemark.dashboard.page import build
from tidemark.one_machine.app import machine_app

ROUNDS = 3
LARGEST_PAGE = 2_000_000
MOST_TIMES_SLOWER = 1.5  # with the most runs than with the second most


@dataclass(frozen=True)
class Built:
    """Build of a page: its size [B] and its time [ms]."""

    size: int
    milliseconds: int


Pages = dict[str, dict[int, Built]]


def built(state: Path, counts: Sequence[int]) -> Pages:
    """Return the builds of the page, by occasion and number of runs."""
    rounds: dict[str, dict[int, list[Built]]] = {
        "after a run": {runs: [] for runs in counts},
        "again": {runs: [] for runs in counts},
    }
    for number in range(ROUNDS):
        with start_cloud(machine_app(), state) as cloud:
            for runs in counts:
                tables = stores.tables(cloud.endpoint, runs)
                first = runs + number * len(stores.SUITES)
                stores.store(runs, range(first, first + len(stores.SUITES)))
                for times in rounds.values():
                    times[runs].append(_built(tables))
    pages = {
        when: {runs: min(each, key=lambda page: page.milliseconds) for runs, each in times.items()}
        for when, times in rounds.items()
    }
    shutil.rmtree(state / "tables")
    with start_cloud(machine_app(), state) as cloud:
        unread = {runs: _built(stores.tables(cloud.endpoint, runs)) for runs in counts}
    return {**pages, "nothing kept": unread}


def ratios(pages: dict[int, Built]) -> tuple[float, float]:
    """Return the ratios of bytes and time with the most runs to those with the second most."""
    *_, many, most = pages.values()
    return most.size / many.size, most.milliseconds / many.milliseconds


def problems(pages: Pages) -> Iterator[str]:
    """Yield the exceeded limits."""
    for when in ("after a run", "again"):
        size = max(page.size for page in pages[when].values())
        if size > LARGEST_PAGE:
            yield f"The dashboard ({when}) has {size:,} bytes; the limit is {LARGEST_PAGE:,}"
        _, slower = ratios(pages[when])
        if slower > MOST_TIMES_SLOWER:
            yield (
                f"The dashboard of the most runs ({when}) takes {slower:.2f} times as long as that "
                f"of the second most; the limit is {MOST_TIMES_SLOWER:g}"
            )


def _built(tables: Tables) -> Built:
    start = time.perf_counter()
    page = build(tables, datetime.now(UTC))
    return Built(len(page.encode()), round(1000 * (time.perf_counter() - start)))
