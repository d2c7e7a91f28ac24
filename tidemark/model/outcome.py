"""The outcome of a run, and the changes of a metric's level that its message reports."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator

from tidemark.model.base import Frozen
from tidemark.model.numerals import percent
from tidemark.model.sentences import shortened
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


RunStatus = Literal["complete", "incomplete", "failed", "aborted", "rejected"]


# The reason becomes the cause of a Fail state, which may have 32,768 characters.
_LONGEST_REASON = 4_000


class Outcome(Frozen):
    """The outcome of a run: ``runs/<run_id>/outcome.json``."""

    run_id: str
    suite: str
    status: RunStatus
    reason: Annotated[str, AfterValidator(lambda reason: shortened(reason, _LONGEST_REASON))]
    trials_planned: int
    trials_done: int
    ended_at: datetime
    execution_arn: str | None = None
    """ARN of the execution that ended, the last one of a resumed run; None in old outcomes."""
    comparisons: tuple[str, ...] = ()
    """Keys of the published comparisons with the baseline, as Markdown."""
    report: str | None = None
    """Key of the published report, as Markdown; None without a report and in old outcomes."""
    level_changes: tuple[LevelAlarm, ...] = ()
    """The changes of level that the run's message reports, and no earlier one did."""
