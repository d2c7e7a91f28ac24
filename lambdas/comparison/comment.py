"""A comparison as a comment of a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lambdas.report.blocks import Report, Section
from lambdas.report.markdown import markdown
from suites.refusal import listed

# What a comment on GitHub holds, in characters.
_LONGEST = 65_536
# Of the charts' tables that are longer than some number of rows it is told that the page has them.
_MOST_ROWS = (40, 10, 0)


def comment(said: Report) -> str:
    """Return a comparison as Markdown, as much of it as a comment holds.

    What is left out is named: rows of the charts, and if that is not enough, the longest sections.
    """
    return next(text for text in _ever_shorter(said) if len(text) <= _LONGEST)


def _ever_shorter(said: Report) -> Iterator[str]:
    for rows in _MOST_ROWS:
        yield markdown(said, rows)
    longest = sorted(said.sections, key=lambda section: -_length(section))
    for count in range(1, len(longest) + 1):
        yield markdown(_without(said, longest[:count]), _MOST_ROWS[-1])


def _length(section: Section) -> int:
    return len(markdown(Report("", (), (section,)), _MOST_ROWS[-1]))


def _without(said: Report, left_out: list[Section]) -> Report:
    headings = [section.heading for section in said.sections if section in left_out]
    why = f"A comment holds {_LONGEST:,} characters. The page has more: {listed(headings)}."
    return replace(
        said,
        sections=(
            *(section for section in said.sections if section not in left_out),
            Section("Left out", (why,)),
        ),
    )
