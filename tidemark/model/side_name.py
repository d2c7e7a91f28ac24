"""The name of a side of a comparison: a version, a run, or a version of a run."""

from __future__ import annotations

import re
from typing import NamedTuple

from tidemark.model.refusal import Refused
from tidemark.model.run_id import RUN_ID
from tidemark.model.sentences import shown
from tidemark.model.subject import VERSION

_SIDE = re.compile(rf"(?P<run>{RUN_ID})(/(?P<of>{VERSION}))?|(?P<version>{VERSION})")


class SideName(NamedTuple):
    """A parsed name of a side: a run, a version, or both."""

    run_id: str | None
    version: str | None


def parse_side(side: str, name: str) -> SideName:
    """Return the parsed name of a side; ``side`` is BASE or NEW, for the refusal.

    Raises
    ------
    Refused
        If the name does not have the form of a version, a run, or a version of a run.

    """
    match = _SIDE.fullmatch(name)
    if not match:
        raise Refused(
            f"{side}: {shown(name)} names no version and no run; expected the form of 9.8.4, "
            "20261120T124455Z-0a1b2c or 20261120T124455Z-0a1b2c/9.8.4"
        )
    return SideName(match["run"], match["of"] or match["version"])
