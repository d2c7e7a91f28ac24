"""Runs of the slowed versions on this machine, in a folder that keeps each trial as it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from onebox.store.object_files import ObjectFiles
from tests.checks.bench.commands import TIDEMARK
from tests.checks.bench.slowed_rocksdb import write_system
from tidemark.model.checkout import ROOT, written_stack
from tidemark.model.plan import Plan
from tidemark.model.results import TrialResult
from tidemark.one_machine.stored import FileBucket, results_bucket
from tidemark.report.comparison.document import CANNOT_TELL
from tidemark.store.bucket import Bucket
from tidemark.store.run_objects import all_trials
from tidemark.store.stored_plan import find_plan

FOLDER = ROOT / ".bench" / "slowed"


class StoredRun(NamedTuple):
    """A run with the trials that it has so far, in their order."""

    plan: Plan
    trials: Sequence[TrialResult]

    @property
    def records(self) -> int:
        """The records of each trial."""
        return int(self.plan.request.parameters["records"])


def start(folder: Path, *words: str) -> None:
    """Start a run by ``tidemark`` in a folder and wait for its end; exit if it fails."""
    write_system(folder / "system")
    run(folder, *words)


def run(folder: Path, *words: str) -> None:
    """Start ``tidemark`` over the system of a folder and wait for its end; exit if it fails."""
    system, state = folder / "system", folder / "state"
    command = [TIDEMARK, *words, "--state", str(state)]
    environment = {**os.environ, "TIDEMARK_SYSTEMS": str(system)}
    # Standard output is for tables.
    done = subprocess.run(command, env=environment, stdout=sys.stderr, check=False)
    if done.returncode not in (0, CANNOT_TELL):
        sys.exit(done.returncode)


def stored(folder: Path, suite: str) -> list[StoredRun]:
    """Return the runs of a suite in a folder, the oldest first; a run may have been killed."""
    if not (folder / "state" / "objects").is_dir():
        return []
    with opened(folder) as bucket:
        return list(_runs(bucket, sorted(bucket.folders("runs/")), suite))


@contextmanager
def opened(folder: Path) -> Iterator[FileBucket]:
    """Yield the results of the runs in a folder."""
    with closing(ObjectFiles(folder / "state" / "objects")) as files:
        yield FileBucket(files, results_bucket(files, written_stack()))


def _runs(bucket: Bucket, names: Sequence[str], suite: str) -> Iterator[StoredRun]:
    for name in names:
        plan = find_plan(bucket, name)
        if plan and plan.suite.name == suite:
            yield StoredRun(plan, list(all_trials(bucket, name)))


def seconds_of_trials(runs: Sequence[StoredRun]) -> Mapping[str, float]:
    """Return the time from a trial's start to that of the next [s], in the median of a version."""
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for run in runs:
        for trial, following in pairwise(run.trials):
            begun, ended = trial.tests[0].begun_at, following.tests[0].begun_at
            if begun and ended:
                seconds[trial.version].append((ended - begun).total_seconds())
    return {version: median(times) for version, times in seconds.items()}
