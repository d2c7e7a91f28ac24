"""The files that the tasks of a test left and the run keeps."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

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
