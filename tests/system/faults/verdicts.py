"""Verdicts of a campaign in a process of its own, without another cloud."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def command(target: str, calls: Path) -> list[str]:
    """Return the command that causes a target's faults and copies their calls to a new folder."""
    words = ["--target", target, "--json", "--calls", str(calls)]
    return [sys.executable, "-m", "tests.system.faults", *words]


def read_problems(verdicts: Path) -> dict[str, list[str]]:
    """Return the problems of each fault from the output of the command."""
    lines = map(json.loads, verdicts.read_text(encoding="utf-8").splitlines())
    return {line["fault"]: line["problems"] for line in lines}
