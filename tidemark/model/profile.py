"""A stored profile of CPU time: its origin and its size."""

from datetime import date

from tidemark.model.frozen import Frozen
from tidemark.model.version_order import version_order


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
