"""A fault: what is done, and how each run that it touches must end."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from local.following import Run
from tests.faults.ground import Ground


@dataclass(frozen=True)
class Ending:
    """How a run ends.

    Attributes
    ----------
    status
        Of its outcome; '' if there must be none.
    reason
        The outcome's whole reason; ``…`` stands for names and times, which are new each time, and
        for words beside the point, of which there is one at least.
    kept
        Rates with a value in the table ``rates``.
    """

    status: str
    reason: str = ""
    kept: int = 0

    def fits(self, seen: Ending) -> bool:
        """Tell whether this is what was seen."""
        pattern = ".+".join(re.escape(part) for part in self.reason.split("…"))
        return (
            self.status == seen.status
            and self.kept == seen.kept
            and re.fullmatch(pattern, seen.reason, re.DOTALL) is not None
        )


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A named fault.

    Attributes
    ----------
    happens
        What goes wrong, in words.
    act
        Brings it about; returns the runs that it touched once they have ended.
    endings
        How each of them must end.
    quick
        Whether it takes seconds, and is part of ``make test``.
    logs_deadline_seconds
        The setting of the deployment that it happens in.
    """

    name: str
    happens: str
    act: Callable[[Ground], Sequence[Run]]
    endings: tuple[Ending, ...]
    quick: bool = False
    logs_deadline_seconds: int = 2


@dataclass
class Verdict:
    """What came of a fault: how its runs ended, and whatever is not as it must be."""

    fault: Fault
    endings: list[Ending] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
