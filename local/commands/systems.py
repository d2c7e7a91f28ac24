"""The systems under test, where the settings say that they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cdk.settings import read_settings, written_context
from suites.files import read_suites
from suites.model import Suite


def systems() -> Path:
    """Return the folder that holds ``suites/`` and ``workloads/``."""
    return read_settings(written_context()).systems


def suites() -> Mapping[str, Suite]:
    """Return the suites by name; Refused in a sentence for a file that is not accepted."""
    return read_suites(systems())
