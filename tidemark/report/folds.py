"""The folds of a report in Markdown, which GitHub and GitLab open on a click."""

from __future__ import annotations

import re

# No text of a report has these tags: Markdown escapes their first character.
_FOLD = r"<details><summary>[^\n]*</summary>\n\n(.*?)\n\n</details>"
_FOLDED = re.compile(_FOLD, re.DOTALL)
_FOLDED_WITH_NAME = re.compile(rf"\n\n(?:## |\*\*)[^\n]*\n\n{_FOLD}", re.DOTALL)


def fold(summary: str, contents: str) -> str:
    """Return Markdown folded under a line."""
    return f"<details><summary>{summary}</summary>\n\n{contents}\n\n</details>"


def unfolded(text: str) -> str:
    """Return Markdown with the contents of its folds alone."""
    return _FOLDED.sub(lambda match: match[1], text)


def without_folds(text: str) -> str:
    """Return Markdown without its folded tables and sections, and without their names."""
    return _FOLDED_WITH_NAME.sub("", text)
