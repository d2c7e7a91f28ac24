"""Stored runs: a bucket and a database in a cloud for each number of runs."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import cycle
from typing import Any

from moto.s3.models import s3_backends

from aws.client.deployed import AthenaTables
from onebox.app import ACCOUNT
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.objects import FileKey
from tests.checks.conformance.figures import run_objects
from tests.checks.conformance.local_engine import described
from tidemark.store import keys
from tidemark.store.columns import TABLES

SUITES = ("cassandra", "leveldb", "rocksdb", "sleeper")
FIRST_YEAR, YEARS = 2022, 5
TRIALS = 3  # per run, so that rows are quick to pack
_PATTERNS = 3
_PATTERN_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def bucket(runs: int) -> str:
    """Return the name of the bucket, database and workgroup for a number of runs."""
    return f"runs{runs}"


def tables(endpoint: Endpoint, runs: int) -> AthenaTables:
    """Create the tables for a number of runs over the stored objects; return their client."""
    name = bucket(runs)
    endpoint.client("s3").create_bucket(Bucket=name)
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
    return AthenaTables(endpoint.client("athena"), name, name)


def store(runs: int, numbers: Iterable[int]) -> None:
    """Store runs by number in the bucket of ``runs``; further runs have numbers from ``runs``."""
    backend: Any = s3_backends[ACCOUNT]["aws"]  # moto takes our bodies, too
    # A request or a sync for each object would take longer than the whole benchmark.
    with FileKey.files.transaction():
        for key, body in objects(runs, numbers, SUITES):
            backend.put_object(bucket(runs), key, FileKey.files.write([body], part=True))


def started(runs: int, number: int) -> tuple[datetime, str]:
    """Return the start and the id of a run: evenly over the years, further runs one a minute."""
    even = min(number, runs)
    first = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)
    moment = first + even * timedelta(days=365 * YEARS) / runs + timedelta(minutes=number - even)
    return moment, f"{moment:%Y%m%dT%H%M%SZ}-{number:06x}"


def objects(
    runs: int, numbers: Iterable[int], suites: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the table objects of runs; the suites take turns."""
    patterns = cycle(_patterns())
    for number in numbers:
        suite = suites[number % len(suites)]
        moment, run_id = started(runs, number)
        for table, (pattern, text) in next(patterns).items():
            rows = text.replace(pattern, run_id).replace(
                f"{_PATTERN_DAY:%Y-%m-%d}", f"{moment:%Y-%m-%d}"
            )
            body = gzip.compress(rows.encode(), mtime=0)
            yield keys.table(table, suite, run_id), body
            if table == "rates" and runs - len(suites) <= number < runs:
                yield keys.table("latest_rates", suite, run_id), body


@cache
def _patterns() -> list[dict[str, tuple[str, str]]]:
    chance = random.Random(20_000)
    return [_pattern(chance) for _ in range(_PATTERNS)]


def _pattern(chance: random.Random) -> dict[str, tuple[str, str]]:
    """Return the run id and the rows as text for each table."""
    pattern = {}
    for key, body in run_objects(chance, _PATTERN_DAY, most_trials=TRIALS).items():
        _, table, *_, file = key.split("/")
        pattern[table] = (file.removesuffix(".jsonl.gz"), gzip.decompress(body).decode())
    return pattern
