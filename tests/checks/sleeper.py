"""The real Sleeper on one machine: ``python -m tests.checks.sleeper REPETITIONS FOLDER ...``.

Each FOLDER has the jars of one version (docs/sleeper.md). The rates of every trial have to equal
those that grep and awk find in the raw lines, to 1e-9. ``--records`` is the number that each writer
writes.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onebox.logs.store import LogStore
from tests.system.end_to_end.raw_lines import RATE, mean_by_grep_and_awk
from tidemark.model.checkout import ROOT

_TIDEMARK = Path(sys.executable).with_name("tidemark")
_TOLERANCE = 1e-9
# "Wrote 400000 rows to S3 in 2.943 seconds at 200000 per second", or "in 1 minute 2.3 seconds".
_RECOMPUTED = (
    '($(NF - 6) == "in" ? $(NF - 10) / $(NF - 5) : $(NF - 12) / (60 * $(NF - 7) + $(NF - 5)))'
)
# By metric: the words of its lines, and the rate in one of them.
_LINES = {
    "ingest_rate": (" rows to S3 in ", RATE),
    "ingest_recomputed_rate": (" rows to S3 in ", _RECOMPUTED),
    "compaction_rate": (": compaction read ", RATE),
}


def measure(state: Path, repetitions: str, folders: Sequence[str], records: str | None) -> None:
    """Measure the versions; raise CalledProcessError if the run is not complete."""
    words = ["--versions", ",".join(folders), "--repetitions", repetitions, "--state", str(state)]
    words += ["--set", f"records={records}"] if records else []
    subprocess.run([_TIDEMARK, "run", "sleeper", *words], cwd=ROOT, check=True)


def rows(state: Path, columns: str, table: str) -> list[dict[str, Any]]:
    """Return columns of a table of results."""
    query = f"SELECT {columns} FROM {table} WHERE suite = 'sleeper'"
    words = ["sql", query, "--format", "json", "--state", str(state)]
    done = subprocess.run([_TIDEMARK, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def compare(state: Path) -> int:
    """Compare every rate with its raw lines; return the number of rates that differ."""
    store, raw, wrong = LogStore(state / "logs"), state / "raw.log", 0
    samples = rows(state, "trial, metric, log_stream", "task_rates")
    for rate in rows(state, "trial, version, metric, value, samples", "rates"):
        if rate["metric"] not in _LINES:
            continue
        words, figure = _LINES[rate["metric"]]
        place = rate["trial"], rate["metric"]
        streams = {row["log_stream"] for row in samples if (row["trial"], row["metric"]) == place}
        mean, count = mean_by_grep_and_awk(store, "/Tidemark/sleeper", streams, words, raw, figure)
        equal = math.isclose(float(rate["value"]), mean, rel_tol=_TOLERANCE)
        same = equal and int(rate["samples"]) == count
        wrong += not same
        print(*rate.values(), "equals" if same else "DIFFERS FROM", mean, count)
    return wrong


def main() -> int:
    """Measure and compare in a folder of its own; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repetitions")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--records", help="by default the suite's")
    wanted = parser.parse_args()
    # Sleeper's writers make a folder in /tmp, so the state folder lies elsewhere.
    checks = ROOT / ".bench"
    checks.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=checks) as folder:
        measure(Path(folder), wanted.repetitions, wanted.folders, wanted.records)
        return 1 if compare(Path(folder)) else 0


if __name__ == "__main__":
    sys.exit(main())
