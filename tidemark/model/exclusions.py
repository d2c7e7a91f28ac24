"""Trials that are excluded from every figure with a reason; they stay stored."""

from collections.abc import Mapping
from datetime import datetime

from tidemark.model.base import Frozen

WHOLE_RUN = "run"


class Exclusion(Frozen):
    """The last decision on a trial or a whole run: excluded, or included again."""

    excluded: bool
    reason: str
    at: datetime


class Exclusions:
    """The exclusions of one run, by trial (``001``) or ``run`` for the whole run."""

    def __init__(self, decisions: Mapping[str, Exclusion]) -> None:
        self._decisions = decisions

    def reason(self, trial: int) -> str | None:
        """Return why a trial is excluded from every figure, None if the trial counts."""
        for name in (WHOLE_RUN, f"{trial:03d}"):
            last = self._decisions.get(name)
            if last is not None and last.excluded:
                return last.reason
        return None


NONE = Exclusions({})
