"""The profiled trials of a run, which count in no rate, and stored profiles of CPU time."""

from datetime import date
from typing import Annotated

from pydantic import BeforeValidator, Field

from tidemark.model.base import Frozen
from tidemark.model.sentences import shown
from tidemark.model.suite import Test
from tidemark.model.task import Artefact
from tidemark.model.version_order import version_order

DEFAULT_HZ = 99
"""A frequency that is not round, so that samples do not march in step with timers."""
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
    """Return a test whose tasks also leave a profile; each measures one version, in no round."""
    metrics = tuple(
        each.model_copy(update={"values": "jobs"}) if each.once_in_round else each
        for each in test.metrics
    )
    artefacts = (*test.artefacts, _PROFILE)
    return test.model_copy(update={"artefacts": artefacts, "metrics": metrics})


class Profile(Frozen):
    """One profile of a version; its stacks are stored beside it."""

    name: str
    """The name, which has the form of a run's."""
    suite: str
    version: str
    test: str
    """The profiled test, '' without a name."""
    profiled_on: date
    samples: int
    unit: str
    form: str
    """The form of the file that it was read from."""
    file: str
    """The name of the file without its folder."""
    source: str
    """The place where the file is published, as the user names it, '' without a name."""
    imported_on: date
    digest: str
    """The SHA-256 of the folded stacks, as text."""
    seconds: float | None = None
    """The CPU time per million records [s], None if it is not known."""
    run: str = ""
    """The run whose trial it is of, '' if it was imported."""
    trial: int | None = None
    """The number of the trial, None if it was imported."""
    order: str = ""
    """The text that sorts as its version does, '' if it was imported."""
    drawn: int | None = None
    """The number of samples that were drawn, where their weights are others, None if not known."""

    @property
    def version_order(self) -> str:
        """A text that sorts as its version does."""
        return self.order or version_order(self.version, packaged=False)

    @property
    def origin(self) -> str:
        """The origin for a table: ``all.svg of https://…, imported 2026-11-23``."""
        if self.run:
            return f"trial {self.trial} of {self.run}"
        published = f" of {self.source}" if self.source else ""
        return f"{self.file}{published}, imported {self.imported_on}"
