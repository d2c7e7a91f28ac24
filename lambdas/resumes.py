"""When, by whom and why a run was gone on with: ``runs/<run_id>/resumes/<name>.json``."""

from __future__ import annotations

from datetime import datetime

from suites.model import Frozen


class Resume(Frozen):
    """An execution that went on with a run that had ended early, as it was asked for."""

    execution_arn: str
    started_at: datetime
    trigger: str
    note: str
    budget_usd: float | None = None
    """In place of the one that was given before; None leaves that."""
