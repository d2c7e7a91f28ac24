"""Suites as older plans hold them."""

from __future__ import annotations

from collections.abc import Mapping

from tidemark.model.refusal import Problem

_SUBJECT: Mapping[str, str] = {
    "package": "package",
    "version_form": "form",
    "versions": "versions",
}
"""The field of the subject that replaces a field of older suites."""


def upgraded(suite: object) -> object:
    """Return a stored suite with today's fields; any other value stays as it is."""
    if not isinstance(suite, dict) or "subject" in suite:
        return suite
    others = {name: value for name, value in suite.items() if name not in _SUBJECT}
    subject = {new: suite[old] for old, new in _SUBJECT.items() if old in suite}
    return {**others, "subject": subject}


def moved(suite: object) -> Problem | None:
    """Return the problem of a file with fields that stand elsewhere today, or None."""
    old = [name for name in _SUBJECT if isinstance(suite, dict) and name in suite]
    if not old:
        return None
    form = ", ".join(f"{_SUBJECT[name]}: …" for name in old)
    return Problem((old[0],), f"{', '.join(old)}: not accepted here; write subject: {{{form}}}")
