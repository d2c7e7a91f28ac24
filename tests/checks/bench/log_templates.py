"""Templates of log statements against messages as they are: a prototype of another store.

``python -m tests.checks.bench.log_templates`` compares the seed's query over two Parquet files with
the same lines: one as the store has them, and one with templates, and their variables in columns,
as CLP has them (Rodrigues, Luo, Yuan, OSDI 2021). Nothing else reads such files.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb

from local.insights import run
from local.insights.source import events_of
from local.logs.parquet import parquet_of
from tests.checks.bench.insights_data import FOLDER, KINDS, lines_sql
from tests.checks.bench.insights_speed import SEED

LINES = 10_000_000
ROUNDS = 3
_VARIABLES = 8
# Numbers, and words of hexadecimal digits such as ids.
_VARIABLE = r"\b(?:[0-9]+(?:\.[0-9]+)?|[0-9a-f]{12,32})\b"
_MARK = "\x11"


class Measured(NamedTuple):
    """The least times of a query and the size of its file."""

    cpu_seconds: float
    seconds: float
    bytes: int


def messages_of(kind: str, lines: int) -> Path:
    """Return a Parquet file of messages, as a segment of the store has them."""
    numbered = f"SELECT i AS timestamp, message FROM ({lines_sql(kind, lines)}) ORDER BY i"
    return _made(f"messages-{kind}-{lines}", numbered)


def templates_of(kind: str, lines: int, messages: Path) -> Path:
    """Return a Parquet file with the template of each message, and each variable in a column."""
    variables = ", ".join(f"found[{place}] AS v{place}" for place in range(1, _VARIABLES + 1))
    return _made(
        f"templates-{kind}-{lines}",
        f"SELECT timestamp, regexp_replace(message, '{_VARIABLE}', '{_MARK}', 'g') AS template, "
        f"{variables} FROM (SELECT *, regexp_extract_all(message, '{_VARIABLE}') AS found "
        f"FROM read_parquet('{messages}'))",
    )


def _made(name: str, select: str) -> Path:
    path = FOLDER / f"{name}.parquet"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        with parquet_of(select, path.with_suffix(".tmp"), threads=2) as unfinished:
            unfinished.rename(path)
    return path


def mean_of_messages(file: Path) -> float:
    """Return the answer of the engine over messages."""
    events = events_of(
        f"read_parquet('{file}')",
        timestamp="timestamp",
        ingestion_time="timestamp",
        log="''",
        log_stream="''",
        message="message",
        ptr="''",
    )
    return float(run(SEED, events).rows[0][0]["value"])


def mean_of_templates(file: Path) -> float:
    """Return the answer by templates: the filter and the glob apply to each template once."""
    with duckdb.connect() as connection:
        found = connection.execute(
            f"SELECT DISTINCT template FROM read_parquet('{file}') "
            "WHERE contains(template, 'to S3') AND template LIKE '% % - % at % per second%'"
        ).fetchall()
        total = count = 0.0
        for (template,) in found:
            before = template.partition(" - ")[2].partition(" at ")[0]
            place = template.partition(" - ")[0].count(_MARK) + before.count(_MARK) + 1
            ((part, number),) = connection.execute(
                f"SELECT sum(v{place}::DOUBLE), count(v{place}) FROM read_parquet('{file}') "
                "WHERE template = $1",
                [template],
            ).fetchall()
            total, count = total + part, count + number
    return total / count


def measured(query: Callable[[Path], float], file: Path) -> tuple[float, Measured]:
    """Return the answer of a query, and its least times."""
    cpu_seconds, seconds, answer = [], [], 0.0
    for _ in range(ROUNDS):
        cpu, began = time.process_time(), time.perf_counter()
        answer = query(file)
        cpu_seconds.append(time.process_time() - cpu)
        seconds.append(time.perf_counter() - began)
    return answer, Measured(min(cpu_seconds), min(seconds), file.stat().st_size)


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="tests.checks.bench.log_templates")
    parser.add_argument("--lines", type=int, default=LINES)
    lines = parser.parse_args(arguments).lines
    for kind in KINDS:
        messages = messages_of(kind, lines)
        began = time.process_time()
        templates = templates_of(kind, lines, messages)
        made = time.process_time() - began
        plain, old = measured(mean_of_messages, messages)
        other, new = measured(mean_of_templates, templates)
        assert abs(plain - other) < 1e-4, f"{plain} is not {other}"
        for name, each in (("messages", old), ("templates", new)):
            print(
                f"{kind}, {lines:,} lines, {name}: {each.cpu_seconds:.2f} s of CPU, "
                f"{each.seconds:.2f} s, {each.bytes / 2**20:.0f} MiB"
            )
        print(
            f"{kind}: {old.cpu_seconds / new.cpu_seconds:.1f} times as fast by CPU, "
            f"{old.seconds / new.seconds:.1f} by time; {made:.1f} s of CPU to make templates"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
