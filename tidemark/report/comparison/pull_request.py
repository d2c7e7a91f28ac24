"""The form of a comparison as a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.model.sentences import listed
from tidemark.report.blocks import Report, Section
from tidemark.report.markdown import markdown

# The longest comment on GitHub, in characters.
_LONGEST = 65_536
# The most rows of a chart's table; a sentence refers to the page for longer tables.
_MOST_ROWS = (40, 10, 0)


def comment(report: Report) -> str:
    """Return a comparison as Markdown, as much of it as a comment holds.

    Rows of charts are left out first, then the longest sections; the text names what is left out.
    """
    return next(text for text in _ever_shorter(report) if len(text) <= _LONGEST)


def _ever_shorter(report: Report) -> Iterator[str]:
    for rows in _MOST_ROWS:
        yield markdown(report, rows)
    longest = sorted(report.sections, key=lambda section: -_length(section))
    for count in range(1, len(longest) + 1):
        yield markdown(_without(report, longest[:count]), _MOST_ROWS[-1])


def _length(section: Section) -> int:
    return len(markdown(Report("", (), (section,)), _MOST_ROWS[-1]))


def _without(report: Report, left_out: list[Section]) -> Report:
    headings = [section.heading for section in report.sections if section in left_out]
    why = f"A comment holds {_LONGEST:,} characters. The page has more: {listed(headings)}."
    return report._replace(
        sections=(
            *(section for section in report.sections if section not in left_out),
            Section("Left out", (why,)),
        ),
    )
