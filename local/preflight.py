"""What is known to go wrong before minutes are spent on a run: on this machine, and now.

What may spoil a run is a warning in words, with what there is and what is needed. Refused is only
what cannot work: a version whose package can be had neither from a cache nor from an index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from local.cloud.processes import workload_environment
from suites.model import Suite
from suites.refusal import Refused
from suites.request import Settled

# Above this share of its cores in use by others, rates are of what the others leave.
_BUSY = 0.5
_LEAST_MEMORY_BYTES = 256 << 20  # of a task that does next to nothing
_PREPARED_AT_ONCE = 4


@dataclass(frozen=True)
class Machine:
    """What a machine has at one moment."""

    cores: int
    load: float
    """Processes that ran or wanted to, on average over the last minute."""
    memory_bytes: int
    """Available without swapping."""
    disk_bytes: int
    """Free where results and the tasks' files go."""

    @classmethod
    def here(cls, state: Path) -> Machine:
        """Return this machine; ``state`` is the folder that a run writes to."""
        there = next(folder for folder in (state, *state.parents) if folder.exists())
        return cls(
            cores=os.cpu_count() or 1,
            load=os.getloadavg()[0],
            memory_bytes=_available_bytes(),
            disk_bytes=shutil.disk_usage(there).free,
        )


def warnings(request: Settled, suite: Suite, machine: Machine) -> Iterator[str]:
    """Yield a sentence for each thing that may spoil a run.

    The needs are generous: of what a task of the suite has for the most records that it can hold,
    the share of these records; for every task, since all of a test run side by side.
    """
    share = request.records / suite.task.most_records
    work = f"{request.tasks:,} x {request.records:,} records"
    disk = request.tasks * share * (suite.task.storage << 30)
    if machine.disk_bytes < disk:
        yield (
            f"disk: {_gib(machine.disk_bytes)} are free, {work} may need {_gib(disk)}; "
            "the run fails when the disk is full"
        )
    memory = request.tasks * max(share * (suite.task.memory << 20), _LEAST_MEMORY_BYTES)
    if machine.memory_bytes < memory:
        yield (
            f"memory: {_gib(machine.memory_bytes)} are available, {work} side by side may need "
            f"{_gib(memory)}; tasks may be killed, or slowed down by swapping"
        )
    if machine.load > _BUSY * machine.cores:
        yield (
            f"load: {machine.load:.1f} on {machine.cores} cores over the last minute; something "
            "else is at work, and rates will scatter and be too low"
        )


def prepare(versions: Sequence[str], suite: Suite, workloads: Path) -> None:
    """Make what the versions of a suite need, as its workload's ``prepare.py`` does, if it has one.

    Raises
    ------
    Refused
        With the version that cannot be prepared, and the program's own sentence why.

    """
    folder = workloads / suite.task.workload
    if not (folder / "prepare.py").exists():
        return
    with ThreadPoolExecutor(_PREPARED_AT_ONCE) as threads:
        packages = map(suite.requirement, versions)
        failures = list(threads.map(lambda package: _failure(package, folder), packages))
    for version, failure in zip(versions, failures, strict=True):
        if failure:
            raise Refused(f"versions: {version} cannot be prepared here: {failure}")


def _failure(package: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "prepare.py", package],
        cwd=folder,
        env=workload_environment(),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return (done.stdout.strip() or f"exit code {done.returncode}") if done.returncode else ""


def _available_bytes() -> int:
    with Path("/proc/meminfo").open(encoding="ascii") as lines:
        fields = dict(line.split(":", 1) for line in lines)
    return int(fields["MemAvailable"].split()[0]) * 1024


def _gib(count: float) -> str:
    return f"{count / (1 << 30):.1f} GiB"
