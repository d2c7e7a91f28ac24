"""The files of tasks that a suite wants to keep, and the files that a run kept."""

import operator
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from tidemark.model.base import Frozen, Name

_PATTERN = r"^[A-Za-z0-9*?][A-Za-z0-9._*?-]{0,99}$"
ARTEFACT_FORMS = {
    _PATTERN: "a file's name of letters, digits and ._-, in which * and ? stand for any",
}
"""The accepted texts of an artefact in words, by regular expression."""
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
