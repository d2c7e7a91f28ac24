"""Cost of questions by number of stored runs: ``python -m tests.checks.bench.stored_runs``.

Each question goes through the API of Athena. The table shows the bytes that Athena would charge for
and the engine's least time over several rounds, in which the numbers of runs take turns. For the
dashboard it shows the size of the page and the time of the build. The report is the newest run's;
the comparison is of the two versions in the newest runs.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from onebox.athena import api as athena
from onebox.cloud.athena import BucketObjects, catalogue
from onebox.cloud.cloud import start_cloud
from onebox.cloud.endpoint import Endpoint
from tests.checks.bench import dashboards, reports, stores
from tidemark.client.tables import Answer, Tables, ask_saved
from tidemark.one_machine.app import machine_app

RUNS = (10, 1_000, 20_000)
ROUNDS = 15
ROCKSDB = {"suite": "rocksdb"}
MOST_TIMES_MORE = 1.1
MOST_TIMES_SLOWER = 1.5  # for a report

Ask = Callable[[Tables], Answer]


def main() -> int:
    """Measure and print; return the exit code."""
    console = Console(width=140)
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        with start_cloud(machine_app(), state) as cloud:
            tables = {runs: _stored(cloud.endpoint, runs) for runs in RUNS}
            # A cloud keeps the rows of its runs when it closes.
            kept = athena.RowCache(state / "tables")
            athena.keep(BucketObjects(), catalogue(), kept, most_seconds=math.inf)
            reported = reports.times(
                cloud.endpoint, {runs: (stores.bucket(runs), _run_ids(runs)[-1]) for runs in RUNS}
            )
            answers = {
                question: _interleaved(ask, tables) for question, ask in _questions().items()
            }
        pages = dashboards.built(state, RUNS)
    table = Table("Question", *(f"{runs:,} runs" for runs in RUNS), "Ratio of bytes", "of time")
    for question, costs in answers.items():
        cells = [f"{size:,} B  {milliseconds} ms" for size, milliseconds in costs.values()]
        table.add_row(question, *cells, *(f"{ratio:.2f}" for ratio in _ratios(costs)))
    for when, built in pages.items():
        cells = [f"{page.size:,} B  {page.milliseconds:,} ms" for page in built.values()]
        ratios = [f"{ratio:.2f}" for ratio in dashboards.ratios(built)]
        table.add_row(f"dashboard, {when} (ratios to {RUNS[-2]:,} runs)", *cells, *ratios)
    for name, times in reported.items():
        cells = [f"{milliseconds:,} ms" for milliseconds in times.values()]
        table.add_row(name, *cells, "", f"{_slower(times):.2f}")
    console.print(table)
    problems = [
        *_slow_questions(answers),
        *dashboards.problems(pages),
        *_slow_reports(reported),
    ]
    for problem in problems:
        console.print(problem)
    return int(bool(problems))


def _stored(endpoint: Endpoint, runs: int) -> Tables:
    """Store runs and return their tables."""
    tables = stores.tables(endpoint, runs)
    stores.store(runs, range(runs))
    reports.store(stores.bucket(runs), _run_ids(runs))
    return tables


def _run_ids(runs: int) -> list[str]:
    return [stores.started(runs, number)[1] for number in range(runs)]


def _slower(times: dict[int, int]) -> float:
    return times[RUNS[-1]] / times[RUNS[0]]


def _slow_reports(reported: dict[str, dict[int, int]]) -> Iterator[str]:
    for name, times in reported.items():
        if _slower(times) > MOST_TIMES_SLOWER:
            yield f"The {name} of the most runs takes over {MOST_TIMES_SLOWER:g} times as long"


def _slow_questions(answers: dict[str, dict[int, tuple[int, int]]]) -> Iterator[str]:
    if max(_ratios(answers["latest run of one suite"])) > MOST_TIMES_MORE:
        yield (
            f"The latest run of one suite takes more than {MOST_TIMES_MORE:g} times the bytes or "
            "time with the most runs"
        )


def _questions() -> dict[str, Ask]:
    def samples(tables: Tables) -> Answer:
        run = ask_saved(tables, "latest_run", ROCKSDB, limit=1).records()[0]["run_id"] or ""
        return ask_saved(tables, "samples_of_run", {**ROCKSDB, "run_id": run})

    return {
        "latest run of one suite": lambda tables: ask_saved(tables, "latest_run", ROCKSDB),
        "history of one suite": lambda tables: ask_saved(tables, "rates_by_version", ROCKSDB),
        "samples of one run": samples,
        "the newest 20 runs of all suites": lambda tables: ask_saved(
            tables, "run_health", limit=20
        ),
    }


def _interleaved(ask: Ask, tables: dict[int, Tables]) -> dict[int, tuple[int, int]]:
    """Return the bytes and the least time [ms] of a question by number of runs."""
    answers: dict[int, list[Answer]] = {runs: [] for runs in tables}
    for _ in range(ROUNDS):
        for runs, client in tables.items():
            answers[runs].append(ask(client))
    assert all(answer.rows for each in answers.values() for answer in each), "an answer has no rows"
    return {
        runs: (each[0].bytes_scanned, min(answer.milliseconds for answer in each))
        for runs, each in answers.items()
    }


def _ratios(answers: dict[int, tuple[int, int]]) -> list[float]:
    """Return the ratios of bytes and time with the most runs to those with the fewest."""
    return [most / fewest for most, fewest in zip(answers[RUNS[-1]], answers[RUNS[0]], strict=True)]


if __name__ == "__main__":
    sys.exit(main())
