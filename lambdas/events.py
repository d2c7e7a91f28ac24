"""What the states hand to the functions, where several take the same."""

from datetime import datetime
from typing import Any

from aws_lambda_powertools.utilities.parser import BaseModel


class ExecutionEvent(BaseModel):
    """An execution: its ARN, name, start and input."""

    execution_arn: str
    execution_name: str
    started_at: datetime
    input: Any


class RunEvent(BaseModel):
    """A run by its name."""

    run_id: str


class TrialEvent(RunEvent):
    """One trial of a run."""

    trial: int
