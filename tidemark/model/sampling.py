"""The profiled trials of a run, which measure where the CPU time goes and count in no rate."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from tidemark.model.files_to_keep import Artefact
from tidemark.model.frozen import Frozen
from tidemark.model.sentences import shown
from tidemark.model.suite import Test

DEFAULT_HZ = 99
"""A frequency beside the round ones of timers, so that samples do not march in step with them."""
MOST_HZ = 1_000
PROFILE_FILE = "profile.folded.gz"
"""The name of the file with the folded stacks of a task, which its harness leaves."""
_PROFILE = Artefact(file=PROFILE_FILE)


class Profiling(Frozen):
    """The field ``profile`` of an execution input."""

    hz: int = Field(default=DEFAULT_HZ, strict=True, ge=1, le=MOST_HZ)
    """The samples of a thread in a second of its CPU time, 1 to 1,000 [Hz]."""
    trials: int = Field(default=5, strict=True, ge=1, le=20)
    """The profiled trials of each version, 1 to 20."""


def _profiling(value: object) -> object:
    """Return the fields of an input: ``true`` is every default, ``false`` no profile."""
    if isinstance(value, bool):
        return {} if value else None
    if value is None or isinstance(value, dict | Profiling):
        return value
    raise ValueError(f'{shown(value)} is not accepted; expected true or {{"hz": {DEFAULT_HZ}}}')


OptionalProfiling = Annotated[Profiling | None, BeforeValidator(_profiling)]


def with_profile(test: Test) -> Test:
    """Return a test whose tasks also leave a profile."""
    return test.model_copy(update={"artefacts": (*test.artefacts, _PROFILE)})
