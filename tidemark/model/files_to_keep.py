"""The files that the tasks of a test leave and a suite wants to keep."""

import operator
from fnmatch import fnmatchcase

from pydantic import Field

from tidemark.model.frozen import Frozen
from tidemark.model.name import Name

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
