"""The ECS task of a program: its command line, its size, its harness, and the files it leaves."""

import json
import operator
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from tidemark.model.base import Frozen, Name
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import form
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


_FOLDER = form(
    r"^(/[A-Za-z0-9._-]{1,100}){2,10}$", "a path of two parts or more, such as /tmp/kiwi"
)
_PATTERN = form(
    r"^[A-Za-z0-9*?][A-Za-z0-9._*?-]{0,99}$",
    "a file's name of letters, digits and ._-, in which * and ? stand for any",
)
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


MOST_FILES = 1_000
"""The most files of one test that a run keeps."""


class Artefact(Frozen):
    """Files of one test that are kept with the run."""

    file: str = Field(pattern=_PATTERN)
    """The name of the file; ``*`` in it stands for any characters, and ``?`` for one."""
    most_mib: int = Field(default=16, strict=True, ge=1, le=256)
    """The greatest size of a file that is kept, 1 to 256 [MiB]."""
    step: Name | None = Field(default=None, exclude_if=operator.not_)
    """The step whose tasks leave the file, by default every step with ``run_tasks``."""
    required: bool = Field(default=False, strict=True)
    """Whether a task without such a file makes its test incomplete, without rates."""

    def names(self, file: str) -> bool:
        """Tell whether the name of a file is meant."""
        return fnmatchcase(file, self.file)


FILE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
# A run may have many thousands: a model of each would take more memory than a class with slots.
_CONFIG = ConfigDict(extra="forbid", defer_build=True)
NAME_WORDS = "a letter or digit, and up to 99 letters, digits and ._- after it"
"""The accepted names of files in words."""


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class KeptFile:
    """A file that a task left, kept with the run."""

    task: int = Field(ge=0)
    """The index of the task."""
    name: str = Field(pattern=FILE_NAME)
    size: int = Field(ge=0)
    """[B]."""
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Kept(NamedTuple):
    """The files of one test."""

    files: Sequence[KeptFile] = ()
    notes: Sequence[str] = ()
    """A sentence for each file that is not kept, and for each that a task did not leave."""
    missing: Sequence[str] = ()
    """A sentence for each required file that is not kept."""
