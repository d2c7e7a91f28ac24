"""How asking for figures depends on the runs stored: ``python -m tests.bench.stored_runs``.

Each number of runs has a bucket and a database of its own in one cloud, and each question goes
through the API of Athena. Its bytes are those that Athena would charge for; its time is the
engine's, the least of several rounds in which the numbers of runs take turns. Of the dashboard it
is the size of the page, and the time to build it: first when nothing was read yet, then again. A
comparison is of the two versions that the newest runs measured.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

from moto.s3.models import s3_backends
from rich.console import Console
from rich.table import Table

from local.account import ACCOUNT
from local.cloud.cloud import start_cloud
from local.cloud.endpoint import Endpoint
from local.cloud.objects import FileKey
from local.dashboard.building import build
from local.sql_client import Answer, SqlClient
from local.stack import Stack
from suites import keys
from suites.tables import TABLES
from tests.bench import comparisons
from tests.conformance.figures import run_objects
from tests.conformance.local_engine import described

RUNS = (10, 1_000, 20_000)
SUITES = ("cassandra", "leveldb", "rocksdb", "sleeper")
FIRST_YEAR, YEARS = 2022, 5
ROUNDS = 15
BUILDS = 3
ROCKSDB = {"suite": "rocksdb"}
MOST_TIMES_MORE = 1.1
LARGEST_PAGE = 2_000_000
MOST_TIMES_SLOWER = 1.5  # the page of the most runs than that of the second most; a comparison
TRIALS = 3  # of each run: its rows are quick to pack
_PATTERNS = 3
_PATTERN_DAY = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Built:
    """How a dashboard was built."""

    size: int
    """Of the page [B]."""
    first: int
    """When nothing of the tables had been read before [ms]."""
    again: int
    """After that, the least of several times [ms]."""


Ask = Callable[[SqlClient], Answer]


def main() -> int:
    """Measure and print; return the exit code."""
    console = Console(width=110)
    with tempfile.TemporaryDirectory() as folder, start_cloud(Path(folder)) as cloud:
        tables = {runs: _stored(cloud.endpoint, runs) for runs in RUNS}
        pages = _built(tables)
        compared = comparisons.times(cloud.endpoint, {runs: _bucket(runs) for runs in RUNS})
        found = {question: _interleaved(ask, tables) for question, ask in _questions().items()}
    table = Table("Question", *(f"{runs:,} runs" for runs in RUNS), "Ratio of bytes", "of time")
    for question, answers in found.items():
        cells = [f"{size:,} B  {milliseconds} ms" for size, milliseconds in answers.values()]
        table.add_row(question, *cells, *(f"{ratio:.2f}" for ratio in _ratios(answers)))
    for name, time_of in (("dashboard, the first time", "first"), ("dashboard", "again")):
        answers = {runs: (built.size, getattr(built, time_of)) for runs, built in pages.items()}
        cells = [f"{size:,} B  {milliseconds:,} ms" for size, milliseconds in answers.values()]
        table.add_row(name, *cells, *(f"{ratio:.2f}" for ratio in _ratios(answers)))
    ratio = compared[RUNS[-1]] / compared[RUNS[0]]
    cells = [f"{milliseconds:,} ms" for milliseconds in compared.values()]
    table.add_row("comparison of two versions", *cells, "", f"{ratio:.2f}")
    console.print(table)
    problems = [*_slow_questions(found), *_slow_pages(pages)]
    if ratio > MOST_TIMES_SLOWER:
        problems.append(f"A comparison takes more than {MOST_TIMES_SLOWER:g} times longer")
    for problem in problems:
        console.print(problem)
    return int(bool(problems))


def _slow_questions(found: dict[str, dict[int, tuple[int, int]]]) -> Iterator[str]:
    if max(_ratios(found["latest run of one suite"])) > MOST_TIMES_MORE:
        yield f"The latest run of one suite takes more than {MOST_TIMES_MORE:g} times more"


def _slow_pages(pages: dict[int, Built]) -> Iterator[str]:
    size = max(built.size for built in pages.values())
    if size > LARGEST_PAGE:
        yield f"The dashboard has {size:,} bytes, more than {LARGEST_PAGE:,}"
    many, most = (pages[runs].again for runs in RUNS[-2:])
    if most > MOST_TIMES_SLOWER * many:
        yield f"The dashboard of the most runs takes more than {MOST_TIMES_SLOWER:g} times longer"


def _built(tables: dict[int, SqlClient]) -> dict[int, Built]:
    """Return how the dashboard of each number of runs was built."""
    times: dict[int, list[int]] = {runs: [] for runs in tables}
    sizes = {}
    for _ in range(1 + BUILDS):
        for runs, client in tables.items():
            began = time.perf_counter()
            sizes[runs] = len(build(client, datetime.now(UTC)).encode())
            times[runs].append(round(1000 * (time.perf_counter() - began)))
    return {runs: Built(sizes[runs], first, min(rest)) for runs, (first, *rest) in times.items()}


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


def _bucket(runs: int) -> str:
    return f"runs{runs}"


def _stored(endpoint: Endpoint, runs: int) -> SqlClient:
    """Store runs in a bucket of their own; return their tables."""
    name = _bucket(runs)
    endpoint.client("s3").create_bucket(Bucket=name)
    backend = s3_backends[ACCOUNT]["aws"]
    # A request for each object would take longer than all that is measured.
    with FileKey.files.transaction():
        for key, body in _objects(runs):
            backend.put_object(name, key, body)
    comparisons.store(name, [_started(runs, number)[1] for number in range(runs)])
    glue = endpoint.client("glue")
    glue.create_database(DatabaseInput={"Name": name})
    for table in TABLES:
        description = described(table, name, ",".join(SUITES))
        del description["DatabaseName"]
        glue.create_table(DatabaseName=name, TableInput=description)
    results = {"OutputLocation": f"s3://{name}/athena/"}
    endpoint.client("athena").create_work_group(
        Name=name, Configuration={"ResultConfiguration": results}
    )
    return SqlClient(endpoint.client, Stack(name, {"Database": name, "WorkGroup": name}))


def _objects(runs: int) -> Iterator[tuple[str, bytes]]:
    """Yield the tables' objects of runs, the suites taking turns, evenly over the years."""
    chance = random.Random(20_000)
    patterns = cycle([_pattern(chance) for _ in range(_PATTERNS)])
    for number in range(runs):
        suite = SUITES[number % len(SUITES)]
        started, run_id = _started(runs, number)
        for table, (pattern, text) in next(patterns).items():
            rows = text.replace(pattern, run_id).replace(
                f"{_PATTERN_DAY:%Y-%m-%d}", f"{started:%Y-%m-%d}"
            )
            body = gzip.compress(rows.encode(), mtime=0)
            yield keys.table(table, suite, run_id), body
            if table == "rates" and number >= runs - len(SUITES):
                yield keys.table("latest_rates", suite, run_id), body


def _started(runs: int, number: int) -> tuple[datetime, str]:
    """Return when one of so many runs was started, and its name."""
    first = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)
    started = first + number * timedelta(days=365 * YEARS) / runs
    return started, f"{started:%Y%m%dT%H%M%SZ}-{number:06x}"


def _pattern(chance: random.Random) -> dict[str, tuple[str, str]]:
    """Return of each table the run that its rows are of, and the rows as text."""
    found = {}
    for key, body in run_objects(chance, _PATTERN_DAY).items():
        _, table, *_, file = key.split("/")
        rows = gzip.decompress(body).decode().splitlines(keepends=True)
        first = "".join(row for row in rows if json.loads(row).get("trial", 1) <= TRIALS)
        found[table] = (file.removesuffix(".jsonl.gz"), first)
    return found


if __name__ == "__main__":
    sys.exit(main())
