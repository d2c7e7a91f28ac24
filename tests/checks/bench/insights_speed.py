"""Speed of log queries, against grep, mawk and Python over the same five million lines.

``python -m tests.checks.bench.insights_speed`` prints the figures; exit code 1 if one is too slow.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import sub
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from cwli.insights import EventSource, run
from cwli.insights import compile as compile_query
from cwli.readers.files import log_files
from onebox.logs.store import LogStore
from onebox.logs.value_cache import ValueCache
from tests.checks.bench.insights_data import FOLDER, KINDS, LINES, store_of, text_of

ROUNDS = 7
MOST_MIB = 300.0
"""The largest accepted memory of a query over a text file."""
TIDEMARK = Path(sys.executable).with_name("tidemark")
# Source: Sleeper, documentation of performance tests.
SEED = (
    'fields @message | filter @message like "to S3" '
    "| parse @message '* * - * at * per second' as class, level, msg, rate | stats avg(rate)"
)
# The literal meaning of the query; a glob with a star at its start matches from the beginning.
_GLOB = re.compile(r"(.*?) (.*?) - (.*?) at (.*?) per second")
_MAWK = '/ - .* at .* per second/ { sum += $2; count++ } END { printf "%.6f", sum / count }'
_TEXT = ("text, whole process", 1.7, 1.2)
_LIMITS = {
    "mix": {
        "store": ("Parquet store, checked first", 0.8, 0.5),
        "cached": ("Parquet store with its cache", 0.3, 0.1),
        "process": _TEXT,
    },
    "all": {
        "store": ("Parquet store, checked first", 0.8, 0.5),
        "cached": ("Parquet store with its cache", 0.7, 0.1),
        "process": _TEXT,
    },
}


@dataclass(frozen=True)
class Figure:
    """Measured figure with its limit."""

    name: str
    value: float
    limit: float
    unit: str
    aim: float | None = None


def figures() -> Iterator[Figure]:
    """Yield the figures; speeds are ratios of the fastest of interleaved rounds."""
    yield Figure("parse and compile the seed's query", _compile_seconds() * 1000, 1.0, "ms")
    for kind in KINDS:
        text, store = text_of(kind), store_of(kind)
        cached = LogStore(store, cache=ValueCache(FOLDER / "parsed")).events(["bench"])
        for _ in range(2):  # the second query keeps its rows
            _mean(cached)
        fastest = _fastest(
            {
                "mawk": partial(_grep_and_mawk, text),
                "store": partial(_mean_of_store, store),
                "cached": partial(_mean, cached),
                "process": partial(_process, text),
                "text": partial(_mean_of_text, text),
                "python": partial(_python, text),
            }
        )
        against = f"grep -F | mawk ({fastest['mawk'].cpu:.2f} s of CPU), {kind}"
        for name, (label, limit, aim) in _LIMITS[kind].items():
            for place, time_of in enumerate(Times._fields):
                ratio = fastest[name][place] / fastest["mawk"][place]
                yield Figure(f"{label}, {time_of} against {against}", ratio, limit, "×", aim)
        python = fastest["python"].seconds
        yield Figure(
            f"text against a Python re loop ({python:.2f} s), {kind}",
            fastest["text"].seconds / python,
            0.15,
            "×",
            0.1,
        )
    # DuckDB reads ahead by a varying number of buffers of 16 MiB, whatever the size of the file.
    for times in (1, 4):
        peak = max(_peak(text_of("mix", times)) for _ in range(3))
        yield Figure(f"peak memory over {times * LINES:,} lines", peak, MOST_MIB, "MiB")


class Times(NamedTuple):
    """The cost of a measurement and of the processes that it ran [s]."""

    cpu: float
    seconds: float

    @classmethod
    def now(cls) -> Times:
        """Return the times so far."""
        used = [
            resource.getrusage(resource.RUSAGE_SELF),
            resource.getrusage(resource.RUSAGE_CHILDREN),
        ]
        return cls(sum(each.ru_utime + each.ru_stime for each in used), time.perf_counter())


def _fastest(measured: dict[str, Callable[[], float]]) -> dict[str, Times]:
    """Return the shortest times of each measurement; all must return the same mean."""
    times = dict.fromkeys(measured, Times(float("inf"), float("inf")))
    for _ in range(ROUNDS):
        means = []
        for name, measure in measured.items():
            start = Times.now()
            means.append(measure())
            taken = map(sub, Times.now(), start)
            times[name] = Times._make(map(min, times[name], taken))
        assert max(means) - min(means) < 1e-4, f"the means differ: {means}"
    return times


def _timed(measure: Callable[[], float]) -> float:
    start = time.perf_counter()
    measure()
    return time.perf_counter() - start


def _compile_seconds() -> float:
    return min(_timed(lambda: bool(compile_query(SEED))) for _ in range(200))


def _grep_and_mawk(text: Path) -> float:
    with subprocess.Popen(
        ["grep", "-F", "to S3", text], stdout=subprocess.PIPE, env={"LC_ALL": "C"}
    ) as grep:
        done = subprocess.run(
            ["mawk", "-F", " at ", _MAWK], stdin=grep.stdout, capture_output=True, check=True
        )
    return float(done.stdout)


def _mean(events: EventSource) -> float:
    return float(run(SEED, events).rows[0][0]["value"])


def _mean_of_store(store: Path) -> float:
    """Return the mean of a store that this process has not read yet."""
    return _mean(LogStore(store).events(["bench"]))


def _mean_of_text(text: Path) -> float:
    return _mean(log_files([text]))


def _process(text: Path) -> float:
    done = subprocess.run(
        [TIDEMARK, "query", SEED, text, "--format", "csv"], capture_output=True, check=True
    )
    return float(done.stdout.split()[1])


def _python(text: Path) -> float:
    total, count = 0.0, 0
    with text.open(encoding="utf-8") as lines:
        for line in lines:
            if "to S3" in line and (match := _GLOB.match(line)):
                total += float(match[4])
                count += 1
    return total / count


def _peak(text: Path) -> float:
    """Return the peak resident memory of a whole process [MiB]."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=-3); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command: list[str | Path] = [sys.executable, "-c", code, TIDEMARK, "query", SEED, text]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def main() -> int:
    """Measure and print; return the exit code."""
    if not shutil.which("mawk"):
        print("tests.checks.bench.insights_speed: mawk is not installed", file=sys.stderr)
        return 2
    return report(figures())


def report(figures: Iterable[Figure]) -> int:
    """Print figures with their limits; return 1 if one exceeds its limit, else 0."""
    measured = list(figures)
    table = Table()
    for heading in ("Figure", "Measured", "At most", "Aim", ""):
        table.add_column(heading)
    for figure in measured:
        verdict = "" if figure.value <= figure.limit else "too slow"
        aim = "" if figure.aim is None else f"{figure.aim:g}"
        value = f"{figure.value:.2f} {figure.unit}"
        table.add_row(figure.name, value, f"{figure.limit:g}", aim, verdict)
    Console(width=130).print(table)
    return int(any(figure.value > figure.limit for figure in measured))


if __name__ == "__main__":
    sys.exit(main())
