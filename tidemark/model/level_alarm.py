"""The alarm that the level of a metric changed, and the acceptance of a new level by people."""

from datetime import date, datetime
from typing import Literal

from tidemark.model.base import Frozen
from tidemark.model.numerals import percent
from tidemark.model.version_order import versions_at


class Acknowledgement(Frozen):
    """The last decision on a change of a metric's level."""

    reason: str
    until: date
    """The last day, in UTC, on which the new level is accepted."""
    at: datetime


class LevelAlarm(Frozen):
    """A change of level that one message reports."""

    test: str
    metric: str
    name: str
    """The figure, with its statistic and labels."""
    run_id: str
    """The first run on the new level."""
    version: str
    """The newest version of that run."""
    version_before: str
    """The newest version of the run before."""
    verdict: Literal["slower", "faster"]
    change: float | None
    """(after - before) / before, so that 0.1 is 10 % more; None after a level of zero."""
    told_by: str
    """The run whose message reports it."""

    @property
    def sentence(self) -> str:
        """The change in words."""
        size = "" if self.change is None else f"{percent(abs(self.change))} "
        return (
            f"{self.name} has been {size}{self.verdict} since run {self.run_id} "
            f"({versions_at(self.version, self.version_before)})."
        )
