"""A damaged file, object or folder of a state folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something damaged.

    Attributes
    ----------
    problem
        A sentence that names it and says what is wrong, without a full stop.
    remedy
        The result of its repair, as the rest of a sentence that begins with "--repair".
    repair
        The function that mends it. It deletes nothing: it moves aside what is damaged. It returns
        False if something is lost.
    harmless
        Whether everything is as it was stored, and the file is only of no use.
    """

    problem: str
    remedy: str
    repair: Callable[[], bool]
    harmless: bool = False
