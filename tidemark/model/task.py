"""The ECS task of a program: its command line, its size, and the harness that it starts in."""

import json
import operator
from typing import Literal

from pydantic import Field

from tidemark.model.base import Frozen, Name
from tidemark.model.checkout import ROOT
from tidemark.model.subject import Line, Subject

HARNESS = ROOT / "workloads" / "harness"
"""The folder of the package ``harness``, which stands beside the workload in an image."""
PREPARATION = ("python", "-S", "-m", "harness.preparation")
"""The program; the words of the workload's entry point follow."""
SERVICE = ("python", "-m", "harness.service")
"""The program that runs a service and says when it is ready; its command line follows."""


def preparation_variables(subject: Subject) -> dict[str, str]:
    """Return the variables of all tasks that prepare versions of a subject."""
    if subject.prepare:
        return {"TIDEMARK_PREPARE": json.dumps(subject.prepare)}
    if subject.folder:
        return {"TIDEMARK_JARS": json.dumps([subject.folder, subject.advice])}
    return {}


_FOLDER = r"^(/[A-Za-z0-9._-]{1,100}){2,10}$"
TASK_FORMS = {_FOLDER: "a path of two parts or more, such as /tmp/kiwi"}
"""The accepted texts of a task in words, by regular expression."""
CpuUnits = Literal[256, 512, 1024, 2048, 4096, 8192, 16384]
LEAST_MEMORY, MOST_MEMORY = 512, 122_880
# AWS Fargate pricing: billed by the second, from the image's pull to the task's end, for at least
# a minute.
LEAST_BILLED_SECONDS = 60
# The Docker label with an image's workload folder, which the one-machine cloud reads.
WORKLOAD_LABEL = "tidemark.workload"
HARNESS_WORDS = ("python", "-m", "harness")
HARNESS_TESTS = ("ingest", "compaction")
"""The tests of a workload that has no program but its engine."""
COMMAND_WORDS = ("python", "-m", "harness.command")
"""The program that runs a test's command, a line of shell, which follows."""
SHELL_WORDS = ("sh", "-c")
"""The same in an image of a version, which has no harness."""


def _entry_point(workload: str) -> tuple[str, ...]:
    return (*HARNESS_WORDS, f"{workload}_workload") if workload else ()


class Task(Frozen):
    """The ECS task that every test of the suite runs in."""

    # A stored suite has no empty values either: its reader accepts none.
    workload: Name = Field(default="", exclude_if=operator.not_)
    """``workloads/<workload>/``: the program, pins of its versions, and a Dockerfile if an image
    needs more than Python. By default it has the name of the suite; an image of each version has
    its own program."""
    entry_point: tuple[Line, ...] = Field(
        default_factory=lambda fields: _entry_point(fields["workload"]),
        min_length=1,
        max_length=20,
        exclude_if=operator.not_,
    )
    """The start of the program's command line, by default
    ``python -m harness <workload>_workload`` or, for an image of each version, the image's own;
    the test's name follows as its argument. A test with a ``command`` needs none."""
    cpu: CpuUnits = 1024
    """CPU units, 256, 512, 1024, 2048, 4096, 8192 or 16384: 1024 are one vCPU."""
    memory: int = Field(default=2048, strict=True, ge=LEAST_MEMORY, le=MOST_MEMORY)
    """Memory, 512 to 122,880 [MiB], as Fargate has it for this ``cpu``."""
    storage: int = Field(default=21, strict=True, ge=21, le=200)
    """Ephemeral storage, 21 to 200 [GiB]; Fargate includes 20."""
    writes: str | None = Field(default=None, pattern=_FOLDER, exclude_if=operator.not_)
    """The folder outside of its own that the program writes into whatever it is told, such as
    ``/tmp/kiwi``. On one machine a state folder beside it, or deeper, is refused, since tasks may
    make nothing in the folders above the state folder."""
