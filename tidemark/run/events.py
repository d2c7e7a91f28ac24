"""Inputs that several functions take from the states."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel


class ExecutionEvent(BaseModel):
    """An execution: its ARN, name, start and input."""

    execution_arn: str
    execution_name: str
    started_at: datetime
    input: Any


class RunEvent(BaseModel):
    """A run, by its id."""

    run_id: str


class TrialEvent(RunEvent):
    """One trial of a run, or the trials of a round, whose versions take turns in its tasks."""

    trial: int
    """The trial; of a round the first one."""
    trials: tuple[int, ...] = ()
    """The trials of a round in their order; empty for a trial alone."""

    @property
    def every_trial(self) -> tuple[int, ...]:
        """All trials whose results the tasks have."""
        return self.trials or (self.trial,)
