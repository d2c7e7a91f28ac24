"""The price of profiles: CPU time of the RocksDB workload with and without the profiler.

``python -m tests.checks.bench.profiler_overhead [ROUNDS]`` measures in turns. A round is a pair:
the same ingest and compaction, once with and once without samples of 99 Hz. It also counts the
samples whose functions have names and whose stacks are whole. Exit code 1 if a figure exceeds its
limit; it needs Maven on first use.
"""

from __future__ import annotations

import gzip
import math
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from onebox.cloud import objects
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.processes import BARE_PYTHON
from onebox.cloud.server import Server
from tidemark.figures.verdicts import intervals
from tidemark.model.checkout import ROOT
from tidemark.model.profile import DEFAULT_HZ
from tidemark.model.suite_files import read_suites
from tidemark.model.task import PREPARATION
from tidemark.one_machine.app import workload_environment

ROUNDS = 12
RECORDS = 2_000_000
"""The records of a task: the start of the profiler takes 0.1 s of each, which is little of it."""
MOST_OVERHEAD, MOST_LOST = 3.0, 5.0  # [%]
_FOLDER = ROOT / "workloads" / "rocksdb"
_VERSION, _PACKAGE = "9.8.4", "rocksdict==0.3.29"
_TESTS = ("ingest", "compaction")
_TIMED = ("python", str(Path(__file__).with_name("timed_program.py")))
_PROFILES = "profiles/"
_UNNAMED = re.compile(r"(^|;)(\[\w+\]|/[^;]*)$")
# A thread begins at one of these frames: a stack without them was cut.
_STARTS = ("[unknown];_start;", "clone3;")


class Pair(NamedTuple):
    """The CPU time of one test [s] in one round."""

    plain: float
    profiled: float


def figures(rounds: int = ROUNDS) -> Iterator[tuple[str, float, float, str]]:
    """Yield name, figure, limit and unit of the overhead and of the samples that are not whole."""
    with tempfile.TemporaryDirectory() as folder, _results(Path(folder)) as endpoint:
        pairs = _measured(_variables(endpoint, folder), rounds)
        samples = _samples(endpoint)
    for test in _TESTS:
        print(f"{test}: {_sentence([pair[test] for pair in pairs])}")
    both = [Pair(*map(sum, zip(*(pair[test] for test in _TESTS), strict=True))) for pair in pairs]
    print(f"both: {_sentence(both)}")
    name = f"overhead of profiles at {DEFAULT_HZ} Hz, upper end of its 90 % interval"
    yield name, _overhead(both)[2], MOST_OVERHEAD, "%"
    yield f"{samples['all']:,} samples without a name", _lost(samples, "named"), MOST_LOST, "%"
    yield "samples with a stack that is cut", _lost(samples, "whole"), MOST_LOST, "%"


@contextmanager
def _results(folder: Path) -> Iterator[Endpoint]:
    """Yield S3 with the bucket ``results``."""
    with objects.install(folder / "objects"), Server(0) as server:
        server.endpoint.client("s3").create_bucket(Bucket="results")
        yield server.endpoint


def _variables(endpoint: Endpoint, folder: str) -> dict[str, str]:
    return {
        **workload_environment(),
        **endpoint.environment(),
        "TMPDIR": folder,
        "TIDEMARK_VERSION": _VERSION,
        "TIDEMARK_PACKAGE": _PACKAGE,
        "TIDEMARK_RECORDS": str(RECORDS),
        "TIDEMARK_JOBS": "2",
        "TIDEMARK_SEED": "1",
        "TIDEMARK_TASK": "0",
        "TIDEMARK_DATA": "s3://results/work",
        "TIDEMARK_DEADLINE_SECONDS": "600",
    }


def _measured(variables: Mapping[str, str], rounds: int) -> list[dict[str, Pair]]:
    """Return the pairs of each round by test; the round before fills the caches of the machine."""
    measured = []
    for number in range(rounds + 1):
        turns = (False, True) if number % 2 else (True, False)
        seconds = {
            (test, profiled): _cpu_seconds(test, variables, number if profiled else None)
            for profiled in turns
            for test in _TESTS
        }
        measured.append({test: Pair(seconds[test, False], seconds[test, True]) for test in _TESTS})
    return measured[1:]


def _cpu_seconds(test: str, variables: Mapping[str, str], profile: int | None) -> float:
    """Return the CPU time of a task and its children, without its preparation [s]."""
    if profile is not None:
        place = f"s3://results/{_PROFILES}{profile}/{test}/"
        variables = {
            **variables,
            "TIDEMARK_PROFILER": "async-profiler",
            "TIDEMARK_PROFILE_HZ": str(DEFAULT_HZ),
            "TIDEMARK_ARTEFACTS": place,
        }
    seconds = Path(variables["TMPDIR"]) / "seconds"
    words = [*_TIMED, str(seconds), *read_suites()["rocksdb"].task.entry_point, test]
    subprocess.run(
        [BARE_PYTHON, *PREPARATION[1:], *words],
        cwd=_FOLDER,
        env=dict(variables),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return float(seconds.read_text(encoding="ascii"))


def _overhead(pairs: Sequence[Pair]) -> tuple[float, float, float]:
    """Return the overhead and the ends of its 90 % interval, by Student's t of logarithms [%]."""
    ratios = [math.log(pair.profiled / pair.plain) for pair in pairs]
    mean = statistics.fmean(ratios)
    error = statistics.stdev(ratios) / math.sqrt(len(ratios))
    half = intervals.quantile(0.1, len(ratios) - 1) * error
    middle, low, high = (100 * math.expm1(each) for each in (mean, mean - half, mean + half))
    return middle, low, high


def _sentence(pairs: Sequence[Pair]) -> str:
    tasks = RECORDS * len(pairs)
    plain, profiled = (tasks / sum(each) for each in zip(*pairs, strict=True))
    overhead, low, high = _overhead(pairs)
    return (
        f"{plain:,.0f} records per CPU second without and {profiled:,.0f} with the profiler: "
        f"{overhead:+.2f} % of CPU time, 90 % interval {low:+.2f} to {high:+.2f} %, "
        f"{len(pairs)} rounds"
    )


def _samples(endpoint: Endpoint) -> Counter[str]:
    """Return the samples of all profiles, and how many of them have a name and a whole stack."""
    s3, samples = endpoint.client("s3"), Counter[str]()
    for stored in s3.list_objects_v2(Bucket="results", Prefix=_PROFILES)["Contents"]:
        body = s3.get_object(Bucket="results", Key=stored["Key"])["Body"].read()
        for line in gzip.decompress(body).decode().splitlines():
            stack, _, number = line.rpartition(" ")
            samples["all"] += int(number)
            samples["named"] += int(number) * (not _UNNAMED.search(stack))
            samples["whole"] += int(number) * stack.startswith(_STARTS)
    return samples


def _lost(samples: Counter[str], kind: str) -> float:
    return 100 * (1 - samples[kind] / samples["all"])


def main() -> int:
    """Measure and print; return 1 if a figure exceeds its limit."""
    measured = list(figures(*map(int, sys.argv[1:2])))
    for name, value, limit, unit in measured:
        print(f"{name}: {value:.2f} {unit}, limit {limit:g} {unit}")
    return int(any(value > limit for _, value, limit, _ in measured))


if __name__ == "__main__":
    sys.exit(main())
