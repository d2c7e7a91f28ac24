"""Checks of this machine before a run, and the turn of the run to measure on it.

A warning names a risk of the run, with the available and the needed amount. Only a run that cannot
work is refused, because the package of a version is neither in a cache nor in an index.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import psutil

from onebox.cloud.cgroups import NotWritableError, hierarchy
from onebox.cloud.confinement import covers, landlock
from onebox.cloud.processes import BARE_PYTHON
from tidemark.model.parameters import PYTHON, described
from tidemark.model.refusal import Refused
from tidemark.model.run_spec import RunSpec, requirement
from tidemark.model.sentences import listed
from tidemark.model.services import SIZE, UNITS_OF_VCPU, Size
from tidemark.model.subject import Subject
from tidemark.model.suite import Suite, Test
from tidemark.model.task import PREPARATION, preparation_variables
from tidemark.one_machine.app import workload_environment

# Rates suffer if other programs use more than this share of the cores.
_BUSY = 0.5
_LEAST_MEMORY_BYTES = 256 << 20  # of a task with next to no work
_PREPARED_AT_ONCE = 4
# All proofs of uv have the same end, and its hint names an option that no user gave.
_CAUSE = re.compile(r"Because (\S+ has no [^;]*?wheels?.*?) and you require\b")
_REMEDY = (
    "expected a version with a wheel for this Python and machine, or the path of a wheel such as "
    "./dist/x.whl"
)

# A name of Linux's abstract namespace: it is of no folder and no user, and its process's end frees
# it.
_TURN = "\0tidemark.measuring"
_BESIDE = "TIDEMARK_BESIDE_OTHERS"
_POLL_SECONDS = 0.5
_MOST_UNANSWERED = 3


@dataclass(frozen=True)
class Machine:
    """The resources of a machine at one moment."""

    cores: int
    load: float
    """The average number of running and waiting processes over the last minute."""
    memory_bytes: int
    """The memory that is available without swapping."""
    disk_bytes: int
    """The free space for results and the files of tasks."""
    confines: bool = True
    """Whether the kernel keeps tasks from the content of the state folder."""
    covers: bool = True
    """Whether it also keeps them from the names, modes and times in it."""

    @classmethod
    def here(cls, state: Path) -> Machine:
        """Return the resources of this machine; a run writes to the folder ``state``."""
        existing = next(folder for folder in (state, *state.parents) if folder.exists())
        return cls(
            cores=os.cpu_count() or 1,
            load=os.getloadavg()[0],
            memory_bytes=psutil.virtual_memory().available,
            disk_bytes=shutil.disk_usage(existing).free,
            confines=landlock() > 0,
            covers=covers(),
        )


def check_sizes(
    request: RunSpec,
    suite: Suite,
    cores: int,
    place: Callable[[str], object] = hierarchy,
) -> None:
    """Refuse the sizes of services that this machine does not have or cannot limit.

    A service shares the machine with its load, and each has half of several cores. ``place`` finds
    where a controller's groups are.

    Raises
    ------
    Refused
        If there is such a size; the sentence names it.

    """
    half = max(1, cores // 2)
    for value in request.axes.get(SIZE, ()):
        for size in filter(None, (each.size({SIZE: value}) for each in suite.services.values())):
            named = f"axes.{SIZE}: {value} is {size.text}"
            if size.cpu > half * UNITS_OF_VCPU:
                raise Refused(
                    f"{named}; expected at most {half} vCPU, which this machine has beside the load"
                )
            _check_limited(size, named, place)


def _check_limited(size: Size, named: str, place: Callable[[str], object]) -> None:
    for controller in ("cpu", "memory") if size.memory else ("cpu",):
        try:
            place(controller)
        except NotWritableError as error:
            raise Refused(
                f"{named}, and this process may not limit {controller} ({error}); expected root, "
                "or a user who owns its control group"
            ) from None


def check_writes(suite: Suite, state: Path) -> None:
    """Refuse a state folder that keeps the suite's programs from a folder that they write into."""
    if suite.task.writes and (above := Path(suite.task.writes).parent) in state.resolve().parents:
        raise Refused(
            f"--state: {state} lies in {above}, where {suite.title} writes into "
            f"{suite.task.writes}, and tasks may make nothing in the folders above the state "
            f"folder; expected a folder outside of {above}"
        )


def warnings(request: RunSpec, suite: Suite, machine: Machine) -> Iterator[str]:
    """Yield a sentence for each risk of a run.

    The needs are generous. Each task needs a share of its storage and memory, which are for the
    largest parameters. All tasks of a step run side by side.
    """
    tasks = suite.most_at_once(request.tasks)
    share = max(_share(test, request, suite) for test in suite.tests)
    size = described(request.parameters)
    work = f"tests{size and f' with {size}'}"
    disk = tasks * share * (suite.task.storage << 30)
    if machine.disk_bytes < disk:
        yield (
            f"disk: {_gib(machine.disk_bytes)} are free, {work} may need {_gib(disk)}; "
            "the run fails when the disk is full"
        )
    memory = tasks * max(share * (suite.task.memory << 20), _LEAST_MEMORY_BYTES)
    if machine.memory_bytes < memory:
        yield (
            f"memory: {_gib(machine.memory_bytes)} are available, {work} may need "
            f"{_gib(memory)}; tasks may be killed, or slowed down by swapping"
        )
    if machine.load > _BUSY * machine.cores:
        yield (
            f"load: {machine.load:.1f} on {machine.cores} cores over the last minute; other "
            "programs are busy, so rates will scatter and be too low, and the run will take longer"
        )
    if not machine.confines:
        yield (
            "kernel: Landlock is missing or off, Linux 5.13 or later has it; the system under test "
            "can read and change the files of all results"
        )
    elif not machine.covers:
        yield (
            "kernel: this user may not make a mount namespace; the system under test can change "
            "the modes and times of all results' files, though not read or write them"
        )


def other_order(request: RunSpec, subject: Subject) -> str:
    """Return a sentence on versions that a run names in another order than their own, or ''."""
    named = request.versions
    if not subject.knows_order(named) or request.bisect:
        return ""
    ordered = tuple(sorted(named, key=subject.version_order))
    if ordered == named:
        return ""
    return (
        f"order: the run compares {listed(ordered)}, the oldest first, and not in the order "
        f"{listed(named)}; --baseline names the version that the others are compared with"
    )


def _share(test: Test, request: RunSpec, suite: Suite) -> float:
    """Return the work of a test as a share of the most that its parameters allow."""
    most = ((name, suite.parameters[name].most or 1) for name in test.per)
    return math.prod(float(request.parameters[name]) / amount for name, amount in most)


def prepare(request: RunSpec, suite: Suite, workloads: Path) -> None:
    """Prepare the versions of a run, as its tasks would do in the middle of it.

    Raises
    ------
    Refused
        If a version cannot be prepared; the sentence ends with the reason.

    """
    programs = (suite.task, *(service.task for service in suite.services.values()))
    folders = sorted({workloads / program.workload for program in programs})
    own = request.parameters.get(PYTHON)
    pythons = request.axes.get(PYTHON) or ([str(own)] if own else [""])
    places = list(product(request.possible, folders, pythons))

    def failure_at(place: tuple[str, Path, str]) -> str:
        version, folder, python = place
        named = {f"TIDEMARK_{PYTHON.upper()}": python} if python else {}
        return _failure({**_variables(request, suite, version), **named}, folder)

    with ThreadPoolExecutor(_PREPARED_AT_ONCE) as threads:
        failures = list(threads.map(failure_at, places))
    for (version, _, python), failure in zip(places, failures, strict=True):
        if failure:
            on = f" with Python {python}" if python else ""
            raise Refused(f"versions: {version} cannot be prepared here{on}: {failure}")


def _variables(request: RunSpec, suite: Suite, version: str) -> dict[str, str]:
    return {
        **workload_environment(),
        **preparation_variables(suite.subject),
        "TIDEMARK_VERSION": version,
        "TIDEMARK_PACKAGE": requirement(request, suite, version),
        **({"TIDEMARK_PROFILER": str(suite.profiler)} if request.profile else {}),
    }


def _failure(variables: Mapping[str, str], folder: Path) -> str:
    done = subprocess.run(
        [BARE_PYTHON, *PREPARATION[1:]],
        cwd=folder,
        env=dict(variables),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    # The program logs its reason, as a task does.
    reason = done.stdout.strip().rpartition(" ERROR  - ")[2]
    return _plain(reason or f"exit code {done.returncode}") if done.returncode else ""


def _plain(reason: str) -> str:
    """Return the cause of a missing wheel, with a remedy; other reasons as given."""
    cause = _CAUSE.search(reason)
    return f"{cause[1]}; {_REMEDY}" if cause else reason


def _gib(count: float) -> str:
    return f"{count / (1 << 30):.1f} GiB"


@contextmanager
def turn(tell: Callable[[str], None], name: str = _TURN) -> Iterator[None]:
    """Yield as soon as no other process measures on this machine, whatever its state folder.

    Two runs at once spoil both. ``tell`` gets a sentence if there is a wait.
    """
    if os.environ.get(_BESIDE):
        yield
        return
    with socket.socket(socket.AF_UNIX) as own:
        told, unanswered = False, 0
        while not _taken(own, name):
            if not told:
                holder = _holder(name)
                unanswered += holder is None
                if unanswered > _MOST_UNANSWERED or (holder and holder.user != os.getuid()):
                    # Nobody may keep another user of the machine from measuring.
                    who = f"process {holder.process}" if holder else "a process"
                    tell(f"warning: {who} of another user measures on this machine, too.")
                    break
                if holder:
                    told = True
                    tell(
                        f"Waiting for the run of process {holder.process} on this machine, since "
                        f"two at once spoil both. Ctrl-C ends the wait; {_BESIDE}=1 measures "
                        "beside it."
                    )
            time.sleep(_POLL_SECONDS)
        yield


def _taken(own: socket.socket, name: str) -> bool:
    """Tell whether this process has the turn now."""
    try:
        own.bind(name)
    except OSError:
        return False
    own.listen()
    return True


class _Holder(NamedTuple):
    """The process that has the turn, and its user, by their numbers."""

    process: int
    user: int


def _holder(name: str) -> _Holder | None:
    """Return who has the turn, None if it has just ended or does not answer."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(_POLL_SECONDS)
        try:
            asking.connect(name)
        except OSError:
            return None
        form = "3i"  # struct ucred, unix(7)
        peer = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(form))
        return _Holder(*struct.unpack(form, peer)[:2])
