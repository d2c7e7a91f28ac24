"""Times of reading commands and of opened pages with few and with many stored runs.

``python -m tests.checks.bench.scale`` measures whole processes, interleaved, over two state folders
that differ in their number of runs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from onebox.store.object_files import ObjectFiles
from tests.checks.bench import opened_pages, stores
from tests.checks.bench.commands import BUCKET, READING, TIDEMARK, fastest
from tidemark.model.checkout import ROOT
from tidemark.store import keys

FEW, MANY = 1_000, 20_000
MOST_TIMES_SLOWER = 1.5
_TRIALS = 3


def figures() -> Iterator[tuple[str, float, float, str]]:
    """Yield name, measured value, limit and unit for each reading command and opened page."""
    with tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
        folders = {FEW: few, MANY: many}
        for runs, folder in folders.items():
            _store(Path(folder), runs)
        commands = {
            f"{name} {runs}": [TIDEMARK, *words, "--state", folder]
            for name, words in READING.items()
            for runs, folder in folders.items()
        }
        for words in commands.values():  # keeps rows and translations
            subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
        times = fastest(commands)
        pages = {f"{MANY:,} runs": opened_pages.many_runs(Path(many))}
        pages["many metrics"] = opened_pages.wide(Path(few))
        yield from opened_pages.figures(pages)
    for name in READING:
        few_seconds, many_seconds = (times[f"{name} {runs}"] for runs in folders)
        seconds = f"{few_seconds * 1000:.0f} and {many_seconds * 1000:.0f} ms"
        text = f"tidemark {name}, {MANY:,} runs to {FEW:,} ({seconds})"
        yield text, many_seconds / few_seconds, MOST_TIMES_SLOWER, "×"


def _store(state: Path, runs: int) -> None:
    files = ObjectFiles(state / "objects")
    with files.transaction():
        for key, body in _objects(runs):
            # A sync of each body would take longer than the whole benchmark.
            files.save(BUCKET, key, files.write([body], part=True), {"metadata": {}, "tags": {}})
    files.close()


def _objects(runs: int) -> Iterator[tuple[str, bytes]]:
    yield from stores.objects(runs, range(runs), ["rocksdb"])
    for number in range(runs):
        _, run = stores.started(runs, number)
        yield keys.report("rocksdb", run, "report.md"), b"# Report\n"
        for trial in range(_TRIALS):
            yield keys.trial(run, trial + 1), b"{}"


def main() -> int:
    """Measure and print; return 1 if a command exceeds its limit."""
    measured = list(figures())
    for name, ratio, limit, unit in measured:
        print(f"{name}: {ratio:.2f} {unit}, limit {limit:g} {unit}")
    return int(any(ratio > limit for _, ratio, limit, _ in measured))


if __name__ == "__main__":
    sys.exit(main())
