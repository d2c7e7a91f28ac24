"""A known culprit: the profiles of a run name the one function that takes longer, or none.

``python -m tests.checks.bench.culprit`` measures three versions of one RocksDB, five profiled
trials of each: two are the same, and the third searches longer for matches while it compresses.
Exit code 1 if the culprit is not the first function that grew, or if the equal versions differ.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.checks.bench.slowed_rocksdb import suite_of, write_suite, write_workload
from tests.checks.bench.slowed_runs import opened, run
from tidemark.figures.profiles.growth import FunctionChange, ProfiledTrial, compare
from tidemark.figures.profiles.growth_sentence import growth_sentence
from tidemark.model.checkout import ROOT
from tidemark.store.stored_profile import read_profiles, read_stacks

FOLDER = ROOT / ".bench" / "culprit"
SUITE = "rocksdb"
BASE, SAME, SLOWER = "0.0.0", "0.0.1", "0.1.0"
CULPRIT = "ZSTD_btGetAllMatches"
RECORDS = 200_000


def write_system(folder: Path) -> None:
    """Write the ingest test of the culprit and its versions into a new folder."""
    workload, versions = Path(__file__).with_name("culprit_workload.py"), (BASE, SAME, SLOWER)
    write_workload(folder, workload, versions)
    suite = suite_of(SUITE, workload.stem, versions)
    suite["tests"] = [test for test in suite["tests"] if test["name"] == "ingest"]
    write_suite(folder, suite)


def told(folder: Path, new: str) -> Sequence[FunctionChange]:
    """Return the functions that the newest run says have changed since the base."""
    with opened(folder) as bucket:
        newest = max(bucket.folders("runs/"))
        profiles = [each for each in read_profiles(bucket, SUITE) if each.run == newest]
        base, grown = (
            [
                ProfiledTrial(read_stacks(bucket, each), each.seconds, each.drawn)
                for each in profiles
                if each.version == version
            ]
            for version in (BASE, new)
        )
    print(f"{len(base)} profiles of {BASE}, {len(grown)} of {new}:")
    changes = [each for each in compare(base, grown).changes if each.is_told]
    for each in changes:
        print(f"  {growth_sentence(each)}")
    return changes


def main() -> int:
    """Measure and judge; return the exit code."""
    write_system(FOLDER / "system")
    run(FOLDER, "run", SUITE, "--repetitions", "1", "--set", f"records={RECORDS}", "--profile")
    same, slower = told(FOLDER, SAME), told(FOLDER, SLOWER)
    found = bool(slower) and slower[0].function.startswith(CULPRIT)
    grew = found and slower[0].judged.difference > 0
    print(f"culprit {'named first' if grew else 'missed'}; {len(same)} changes of equal versions")
    return int(not grew or bool(same))


if __name__ == "__main__":
    sys.exit(main())
