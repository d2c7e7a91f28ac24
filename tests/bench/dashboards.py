"""How long the page of ``tidemark dashboard`` takes, where runs were stored by earlier clouds.

Each round is a cloud of its own over one folder, in which a run of every suite is added to each
number of runs before the page is built, and built again. At last it is built where no rows of
tables are kept, as of objects that came from elsewhere.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from local.cloud.cloud import start_cloud
from local.dashboard.building import build
from local.sql_client import SqlClient
from tests.bench import stores

ROUNDS = 3
LARGEST_PAGE = 2_000_000
MOST_TIMES_SLOWER = 1.5  # with the most runs than with the second most


@dataclass(frozen=True)
class Built:
    """How a page was built: its size [B], and the least time [ms]."""

    size: int
    milliseconds: int


Pages = dict[str, dict[int, Built]]


def built(state: Path, counts: Sequence[int]) -> Pages:
    """Return how pages were built, by when they were and by the number of runs."""
    found: dict[str, dict[int, list[Built]]] = {
        "after a run": {runs: [] for runs in counts},
        "again": {runs: [] for runs in counts},
    }
    for number in range(ROUNDS):
        with start_cloud(state) as cloud:
            for runs in counts:
                tables = stores.tables(cloud.endpoint, runs)
                first = runs + number * len(stores.SUITES)
                stores.store(runs, range(first, first + len(stores.SUITES)))
                for times in found.values():
                    times[runs].append(_built(tables))
    pages = {
        when: {runs: min(each, key=lambda page: page.milliseconds) for runs, each in times.items()}
        for when, times in found.items()
    }
    shutil.rmtree(state / "tables")
    with start_cloud(state) as cloud:
        unread = {runs: _built(stores.tables(cloud.endpoint, runs)) for runs in counts}
    return {**pages, "nothing kept": unread}


def ratios(pages: dict[int, Built]) -> tuple[float, float]:
    """Return how many times more bytes and time the most runs take than the second most."""
    *_, many, most = pages.values()
    return most.size / many.size, most.milliseconds / many.milliseconds


def problems(pages: Pages) -> Iterator[str]:
    """Yield what is worse than it may be."""
    for when in ("after a run", "again"):
        size = max(page.size for page in pages[when].values())
        if size > LARGEST_PAGE:
            yield f"The dashboard, {when}, has {size:,} bytes, more than {LARGEST_PAGE:,}"
        _, slower = ratios(pages[when])
        if slower > MOST_TIMES_SLOWER:
            yield (
                f"The dashboard of the most runs, {when}, takes {slower:.2f} times as long as that "
                f"of the second most, more than {MOST_TIMES_SLOWER:g}"
            )


def _built(tables: SqlClient) -> Built:
    began = time.perf_counter()
    page = build(tables, datetime.now(UTC))
    return Built(len(page.encode()), round(1000 * (time.perf_counter() - began)))
