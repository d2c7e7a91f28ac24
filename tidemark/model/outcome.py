"""The outcome of a run."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator

from tidemark.model.base import Frozen
from tidemark.model.level_alarm import LevelAlarm
from tidemark.model.sentences import shortened

RunStatus = Literal["complete", "incomplete", "failed", "aborted", "rejected"]


# The reason becomes the cause of a Fail state, which may have 32,768 characters.
_LONGEST_REASON = 4_000


def _short(reason: str) -> str:
    return shortened(reason, _LONGEST_REASON)


class Outcome(Frozen):
    """The outcome of a run: ``runs/<run_id>/outcome.json``."""

    run_id: str
    suite: str
    status: RunStatus
    reason: Annotated[str, AfterValidator(_short)]
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
