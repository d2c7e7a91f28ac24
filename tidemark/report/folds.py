"""The folds of a report in Markdown, which GitHub and GitLab open on a click."""

from __future__ import annotations

import re

EVIDENCE = "evidence"
"""The line over a fold that a terminal prints."""
# No text of a report has these tags: Markdown escapes their first character.
_CONTENTS = r"\n\n(.*?)\n\n</details>"
_FOLD = rf"<details><summary>(?:<b>([^\n]*)</b>|[^\n]*)</summary>{_CONTENTS}"
_FOLDED = re.compile(_FOLD, re.DOTALL)
_FOLDED_EVIDENCE = re.compile(rf"<details><summary>{EVIDENCE}</summary>{_CONTENTS}", re.DOTALL)
_FOLDED_WITH_NAME = re.compile(rf"(?:\n\n(?:## |\*\*)[^\n]*)?\n\n{_FOLD}", re.DOTALL)


def fold(summary: str, contents: str) -> str:
    """Return Markdown folded under a line."""
    return f"<details><summary>{summary}</summary>\n\n{contents}\n\n</details>"


def fold_named(name: str, contents: str) -> str:
    """Return Markdown folded under its name, a text without markup."""
    return fold(f"<b>{name}</b>", contents)


def unfolded(text: str) -> str:
    """Return Markdown with the contents of its folds alone, and the names that folds have."""
    return _FOLDED.sub(_with_name, text)


def _with_name(match: re.Match[str]) -> str:
    name, contents = match.groups()
    return f"**{name}**\n\n{contents}" if name else contents


def without_folds(text: str) -> str:
    """Return Markdown with its evidence, and without all that is folded besides and its names."""
    return _FOLDED_WITH_NAME.sub("", _FOLDED_EVIDENCE.sub(lambda match: match[1], text))
