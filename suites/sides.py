"""How a side of a comparison is named: a version, a run, or a version of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from suites.keys import RUN_ID
from suites.model import VERSION
from suites.refusal import Refused, shown

_SIDE = re.compile(rf"(?P<run>{RUN_ID})(/(?P<of>{VERSION}))?|(?P<version>{VERSION})")


@dataclass(frozen=True)
class Named:
    """A side as somebody named it: a run, a version, or both."""

    run_id: str | None
    version: str | None


def named(side: str, given: str) -> Named:
    """Return what names a side, ``side`` being the word for it: BASE or NEW.

    Raises
    ------
    Refused
        If it has not the form of a version, a run, or a version of a run.

    """
    found = _SIDE.fullmatch(given)
    if not found:
        raise Refused(
            f"{side}: {shown(given)} names no version and no run; expected the form of 9.8.4, "
            "20261120T124455Z-0a1b2c or 20261120T124455Z-0a1b2c/9.8.4"
        )
    return Named(found["run"], found["of"] or found["version"])
