"""What other services of the account are told: the names of our metrics and of our events."""

from __future__ import annotations

NAMESPACE = "Tidemark"

RUN_FAILED = "RunFailed"
"""0 for a run that is complete, 1 for one that is incomplete or failed; by stack and suite."""
MISSED_SCHEDULES = "MissedSchedules"
"""How many schedules of a stack have no run for the last time that they were due; by stack."""

EVENT_SOURCE = "tidemark"
EVENT_TYPE = "Tidemark Run Outcome"
