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
    """One trial of a run."""

    trial: int
