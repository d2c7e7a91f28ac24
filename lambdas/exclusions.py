"""Trials that somebody took out of every figure, with a reason; they are kept, and may return."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from suites.model import Frozen

WHOLE_RUN = "run"


class Exclusion(Frozen):
    """What was last said of a trial, or of a whole run: that it is excluded, or included again."""

    excluded: bool
    reason: str
    at: datetime


class Exclusions:
    """What is excluded of one run, by trial (``001``) or ``run`` for all of it."""

    def __init__(self, said: Mapping[str, Exclusion]) -> None:
        self._said = said

    def reason(self, trial: int) -> str | None:
        """Return why a trial is left out of every figure, None if it is not."""
        for name in (WHOLE_RUN, f"{trial:03d}"):
            last = self._said.get(name)
            if last is not None and last.excluded:
                return last.reason
        return None


NONE = Exclusions({})
