"""The execution that plans a run and records its outcome."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel


class ExecutionEvent(BaseModel):
    """An execution: its ARN, name, start and input."""

    execution_arn: str
    execution_name: str
    started_at: datetime
    input: Any
