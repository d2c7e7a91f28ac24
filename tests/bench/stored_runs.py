"""How asking for figures depends on the runs stored: ``python -m tests.bench.stored_runs``.

Each question goes through the API of Athena. Its bytes are those that Athena would charge for; its
time is the engine's, the least of several rounds in which the numbers of runs take turns. Of the
dashboard it is the size of the page, and the time to build it. The report is that of the newest
run, the comparison of the two versions that the newest runs measured.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from local import athena
from local.cloud.athena import BucketObjects, catalogue
from local.cloud.cloud import start_cloud
from local.cloud.endpoint import Endpoint
from local.sql_client import Answer, SqlClient
from tests.bench import dashboards, reports, stores

RUNS = (10, 1_000, 20_000)
ROUNDS = 15
ROCKSDB = {"suite": "rocksdb"}
MOST_TIMES_MORE = 1.1
MOST_TIMES_SLOWER = 1.5  # a report

Ask = Callable[[SqlClient], Answer]


def main() -> int:
    """Measure and print; return the exit code."""
    console = Console(width=140)
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        with start_cloud(state) as cloud:
            tables = {runs: _stored(cloud.endpoint, runs) for runs in RUNS}
            # As the clouds have done that recorded the runs, each when it closed.
            kept = athena.KeptRows(state / "tables")
            athena.keep(BucketObjects(), catalogue(), kept, most_seconds=math.inf)
            made = reports.times(
                cloud.endpoint, {runs: (stores.bucket(runs), _run_ids(runs)[-1]) for runs in RUNS}
            )
            found = {question: _interleaved(ask, tables) for question, ask in _questions().items()}
        pages = dashboards.built(state, RUNS)
    table = Table("Question", *(f"{runs:,} runs" for runs in RUNS), "Ratio of bytes", "of time")
    for question, answers in found.items():
        cells = [f"{size:,} B  {milliseconds} ms" for size, milliseconds in answers.values()]
        table.add_row(question, *cells, *(f"{ratio:.2f}" for ratio in _ratios(answers)))
    for when, built in pages.items():
        cells = [f"{page.size:,} B  {page.milliseconds:,} ms" for page in built.values()]
        ratios = [f"{ratio:.2f}" for ratio in dashboards.ratios(built)]
        table.add_row(f"dashboard, {when} (ratios to {RUNS[-2]:,} runs)", *cells, *ratios)
    for name, times in made.items():
        cells = [f"{milliseconds:,} ms" for milliseconds in times.values()]
        table.add_row(name, *cells, "", f"{_slower(times):.2f}")
    console.print(table)
    problems = [*_slow_questions(found), *dashboards.problems(pages), *_slow_reports(made)]
    for problem in problems:
        console.print(problem)
    return int(bool(problems))


def _stored(endpoint: Endpoint, runs: int) -> SqlClient:
    """Store runs; return their tables."""
    tables = stores.tables(endpoint, runs)
    stores.store(runs, range(runs))
    reports.store(stores.bucket(runs), _run_ids(runs))
    return tables


def _run_ids(runs: int) -> list[str]:
    return [stores.started(runs, number)[1] for number in range(runs)]


def _slower(times: dict[int, int]) -> float:
    return times[RUNS[-1]] / times[RUNS[0]]


def _slow_reports(made: dict[str, dict[int, int]]) -> Iterator[str]:
    for name, times in made.items():
        if _slower(times) > MOST_TIMES_SLOWER:
            yield f"The {name} takes more than {MOST_TIMES_SLOWER:g} times longer"


def _slow_questions(found: dict[str, dict[int, tuple[int, int]]]) -> Iterator[str]:
    if max(_ratios(found["latest run of one suite"])) > MOST_TIMES_MORE:
        yield f"The latest run of one suite takes more than {MOST_TIMES_MORE:g} times more"


def _questions() -> dict[str, Ask]:
    def samples(tables: SqlClient) -> Answer:
        run = tables.saved("latest_run", ROCKSDB, limit=1).records()[0]["run_id"] or ""
        return tables.saved("samples_of_run", {**ROCKSDB, "year": int(run[:4]), "run_id": run})

    return {
        "latest run of one suite": lambda tables: tables.saved("latest_run", ROCKSDB),
        "history of one suite": lambda tables: tables.saved("rates_by_version", ROCKSDB),
        "samples of one run": samples,
        "the newest 20 runs of all suites": lambda tables: tables.saved("run_health", limit=20),
    }


def _interleaved(ask: Ask, tables: dict[int, SqlClient]) -> dict[int, tuple[int, int]]:
    """Return bytes and least time [ms] of a question by number of runs."""
    answers: dict[int, list[Answer]] = {runs: [] for runs in tables}
    for _ in range(ROUNDS):
        for runs, client in tables.items():
            answers[runs].append(ask(client))
    assert all(answer.rows for given in answers.values() for answer in given), "nothing was asked"
    return {
        runs: (given[0].bytes_scanned, min(answer.milliseconds for answer in given))
        for runs, given in answers.items()
    }


def _ratios(answers: dict[int, tuple[int, int]]) -> list[float]:
    """Return how many times more bytes and time the most runs take than the fewest."""
    return [most / fewest for most, fewest in zip(answers[RUNS[-1]], answers[RUNS[0]], strict=True)]


if __name__ == "__main__":
    sys.exit(main())
