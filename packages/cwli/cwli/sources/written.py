"""A query that is written in a file of another language, such as the code of a CDK app.

A query that the file computes is not known; its text is None. Only within quotes it may insert
text, for which another stands here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cwli.insights.parser import MOST_CHARACTERS
from cwli.program import Refused

# A line end after a backslash stays, so that lines of the text are lines of the file.
_ESCAPES = {"n": "\n", "t": "\t", "\n": "\n"}
_INSERTED = re.compile(r"\$\{[^{}]*\}")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|(?<=[\s=~(])/(?:[^/\\\n]|\\.)+/")


class Written(NamedTuple):
    """A query in a file, after the number ``line`` of lines of the file.

    ``spans`` tells whether each line of the query is a line of the file.
    """

    file: Path
    lines_before: int
    text: str | None
    spans: bool

    def line_of(self, line: int) -> int:
        """Return the line of the file that has a line of the query."""
        return self.lines_before + (line if self.spans else 1)


def inserted(name: str) -> str:
    """Return the placeholder of a value that a text inserts."""
    return f"${{{name}}}"


def filled(
    inserted: re.Pattern[str], text: str, value_of: Callable[[re.Match[str]], str]
) -> str | None:
    """Return a text with values for its inserted parts, None if no query may be as long."""
    parts, size, at = [], 0, 0
    for match in inserted.finditer(text):
        parts += [text[at : match.start()], value_of(match)]
        size += len(parts[-2]) + len(parts[-1])
        if size > MOST_CHARACTERS:
            return None
        at = match.end()
    return "".join([*parts, text[at:]])


def in_one(texts: Sequence[str], separator: str = "") -> str | None:
    """Return texts as one, None if no query may be as long."""
    size = sum(map(len, texts)) + len(separator) * len(texts)
    return None if size > MOST_CHARACTERS else separator.join(texts)


def text_of(file: Path) -> str:
    """Return the text of a file; raise Refused if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as error:
        raise Refused(f"{file}: this file cannot be read: {error}") from None


def written(file: Path, match: re.Match[str], group: str, text: str | None) -> Written:
    """Return a query with its text and line: a match's group has the line, or else the match."""
    place = match.start() if match[group] is None else match.start(group)
    # An escape may stand for a line end, and LogQueryWidget's lines may share a line of the file.
    spans = group != "lines" and (match[group] or "").count("\n") == (text or "").count("\n")
    return Written(file, match.string.count("\n", 0, place), known(text), spans)


def known(text: str | None) -> str | None:
    """Return a text with an x for each part inserted within quotes, None if it inserts more."""
    filled = _QUOTED.sub(lambda quoted: _INSERTED.sub("x", quoted[0]), text or "")
    is_computed = text is None or "${" in filled or "%{" in filled
    return None if is_computed else filled


def plain(text: str | None, *, keep: bool) -> str | None:
    """Return a text without escapes; ``keep`` the backslash before other characters."""
    if text is None:
        return None
    kept = "\\" if keep else ""
    return re.sub(
        r"\\(.)",
        lambda match: _ESCAPES.get(match[1], match[1] if match[1] in "\\\"'`" else kept + match[1]),
        text,
        flags=re.DOTALL,
    )
