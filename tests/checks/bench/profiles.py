"""Time and memory of comparing profiles: a million samples, read, folded and compared.

``python -m tests.checks.bench.profiles`` measures a process of its own; exit code 1 if it takes too
much.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tidemark.client.profile_file import read_profile
from tidemark.figures.profiles.growth import ProfiledTrial, compare

SAMPLES, TRIALS = 1_000_000, 5
MOST_SECONDS, MOST_MIB = 5.0, 500.0
_FUNCTIONS, _DEPTH, _STACKS = 3_000, 24, 20_000


def figures() -> Iterator[tuple[str, float, float, str]]:
    """Yield name, figure, limit and unit of the time and of the memory."""
    with tempfile.TemporaryDirectory() as folder:
        files = _write(Path(folder))
        done = subprocess.run(
            [sys.executable, "-m", "tests.checks.bench.profiles", *map(str, files)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    seconds, mib = json.loads(done.stdout)
    yield f"comparison of profiles with {SAMPLES:,} samples", seconds, MOST_SECONDS, "s of CPU"
    yield "its memory", mib, MOST_MIB, "MiB"


def _write(folder: Path) -> list[Path]:
    """Write the files of both versions, with a line for each sample: the most that a file has."""
    drawn = random.Random(1)
    names = [f"ns::Class{n}<int>::Function{n}(int, char const*)" for n in range(_FUNCTIONS)]
    stacks = [
        ";".join(drawn.choices(names, k=drawn.randint(4, 2 * _DEPTH))) for _ in range(_STACKS)
    ]
    files = []
    for number in range(2 * TRIALS):
        lines = drawn.choices(stacks, k=SAMPLES // (2 * TRIALS))
        files.append(folder / f"{number}.folded")
        files[-1].write_text("".join(f"{line} 1\n" for line in lines), encoding="utf-8")
    return files


def _compare(files: list[str]) -> tuple[float, float]:
    """Return the CPU time [s] and the peak of memory [MiB] of a comparison of files."""
    began = time.process_time()
    trials = [ProfiledTrial(read_profile(Path(file)).stacks) for file in files]
    compare(trials[:TRIALS], trials[TRIALS:])
    seconds = time.process_time() - began
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    """Measure and print; return 1 if a figure exceeds its limit."""
    measured = list(figures())
    for name, value, limit, unit in measured:
        print(f"{name}: {value:.2f} {unit}, limit {limit:g} {unit}")
    return int(any(value > limit for _, value, limit, _ in measured))


if __name__ == "__main__":
    if files := sys.argv[1:]:
        print(json.dumps(_compare(files)))
    else:
        sys.exit(main())
