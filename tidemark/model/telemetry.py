"""The names of our logger, metrics and events, and of AWS's consoles."""

from __future__ import annotations

LOGGER = "tidemark"
"""Name of the logger of all functions; the handlers give it its format."""

NAMESPACE = "Tidemark"

RUN_FAILED = "RunFailed"
"""Metric by stack and suite: 0 for a complete run, 1 for an incomplete or failed run."""
MISSED_SCHEDULES = "MissedSchedules"
"""Metric by stack: the number of schedules without a run for their last due time."""

EVENT_SOURCE = "tidemark"
EVENT_TYPE = "Tidemark Run Outcome"

CONSOLES = {
    "aws": "console.aws.amazon.com",
    "aws-us-gov": "console.amazonaws-us-gov.com",
    "aws-cn": "console.amazonaws.cn",
}
"""The host of AWS's console in each partition."""
