"""The error of stored log lines; its message names the file and the reason."""

from __future__ import annotations

DOCTOR = "`tidemark doctor` says what can be done"


class LogStoreError(Exception):
    """A log group's name that cannot be stored, or a damaged file."""
