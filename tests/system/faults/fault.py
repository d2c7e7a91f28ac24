"""Fault: an action and the required ending of each run that it affects."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tests.system.faults.ground import Ground
from tidemark.client.runs import Run

Target = Literal["test", "systems", "faults"]


@dataclass(frozen=True)
class Ending:
    """Ending of a run.

    Attributes
    ----------
    status
        Status of the outcome; '' if the run has no outcome.
    reason
        Whole reason of the outcome; ``…`` stands for one or more characters: names and times,
        which differ each time, and irrelevant words.
    kept
        Number of rates with a value in the table ``rates``.
    """

    status: str
    reason: str = ""
    kept: int = 0

    def fits(self, actual: Ending) -> bool:
        """Tell whether an actual ending is this one."""
        pattern = ".+".join(re.escape(part) for part in self.reason.split("…"))
        return (
            self.status == actual.status
            and self.kept == actual.kept
            and re.fullmatch(pattern, actual.reason, re.DOTALL) is not None
        )


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A named fault.

    Attributes
    ----------
    happens
        Description of the fault.
    act
        Function that causes the fault and returns the affected runs after their end.
    endings
        Required ending of each of these runs.
    target
        Fastest target of make that causes the fault; the slower targets cause it, too.
    logs_deadline_seconds
        Setting of the deployment in which the fault happens.
    """

    name: str
    happens: str
    act: Callable[[Ground], Sequence[Run]]
    endings: tuple[Ending, ...]
    target: Target = "faults"
    logs_deadline_seconds: int = 2


@dataclass
class Verdict:
    """Verdict on a fault: the endings of its runs, and the problems."""

    fault: Fault
    endings: list[Ending] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
