"""The record of a resume: ``runs/<run_id>/resumes/<name>.json``."""

from datetime import datetime

from tidemark.model.frozen import Frozen


class Resume(Frozen):
    """An execution that resumed a run after an early end, with the fields of its request."""

    execution_arn: str
    started_at: datetime
    trigger: str
    note: str
    budget_usd: float | None = None
    """The new budget of the run [USD]; None keeps the last budget."""
