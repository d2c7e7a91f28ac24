"""A published figure of a release, and the place where it stands."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from tidemark.client.published.amounts import Amount
from tidemark.model.publication import PublishedMetric
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown
from tidemark.model.version_order import VERSION

Environment = tuple[tuple[str, str], ...]
"""The facts of the machine that a file names, such as ``("cpu_model", "Xeon E5-2630")``."""


class ReleaseFigure(NamedTuple):
    """One metric of one version, as a file has it."""

    version: str
    tested_on: date
    metric: PublishedMetric
    amount: Amount
    line: int
    environment: Environment = ()

    @property
    def key(self) -> tuple[str, date, str, str]:
        """The version, day, test and figure, which have one value."""
        return self.version, self.tested_on, self.metric.test, self.metric.name

    @property
    def name(self) -> str:
        """The figure for a sentence: ``0.11.0 compaction_rate of 2022-06-13``."""
        return f"{self.version} {self.metric.name} of {self.tested_on}"


def release_version(text: str) -> str:
    """Return a version without the ``v`` of a tag; raise ValueError for a text that is none."""
    version = re.sub(r"^v(?=[0-9])", "", text)
    if not re.fullmatch(VERSION, version) or not re.search("[0-9]", version):
        raise ValueError(f"{shown(text)} is no version; expected one such as 0.11.0")
    return version


def refused_at(line: int, sentence: str) -> Refused:
    """Return the refusal of what stands in a line of the file."""
    return Refused(f"FILE: line {line}: {sentence}")
