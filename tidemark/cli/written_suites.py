"""The systems under test, from the folder in the settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tidemark.model.context import check_written_suite, written_context
from tidemark.model.publication import find_publication
from tidemark.model.refusal import Refused
from tidemark.model.settings import read_settings
from tidemark.model.suite import Suite
from tidemark.model.suite_files import read_suites


def systems() -> Path:
    """Return the folder that holds ``suites/`` and ``workloads/``."""
    return read_settings(written_context()).systems


def suites() -> Mapping[str, Suite]:
    """Return the suites by name; raise Refused for a file that is not accepted."""
    return read_suites(systems())


def written_suite(name: str) -> Suite:
    """Return the suite of a name; refuse an unknown name, and a suite that no run measures."""
    known = suites()
    published = None if name in known else find_publication(systems(), name)
    if published and published.no_runs:
        raise Refused(f"suite: {published.no_runs}")
    check_written_suite(name, known)
    return known[name]
