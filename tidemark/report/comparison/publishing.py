"""Writer of comparisons in the results bucket, and their form as a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.model.sentences import listed
from tidemark.report.blocks import Report, Section
from tidemark.report.comparison.choice import choose_sides
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.document import document
from tidemark.report.comparison.sides import Sides, sides
from tidemark.report.files import Vega, dump, write_texts
from tidemark.report.grown_functions import Grown, write_functions_between
from tidemark.report.markdown import markdown
from tidemark.report.page import page
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.stored_run import StoredRun, read_run


def publish_comparison(
    bucket: Bucket, suite: str, base: str, new: str, vega: Vega
) -> dict[str, str]:
    """Write the comparison of two named sides; return the key of each form.

    Raises
    ------
    Refused
        If a side is not stored, or both sides are the same.

    """
    (base_plan, base_version), (plan, version) = choose_sides(bucket, suite, base, new)
    run = read_run(bucket, plan)
    base_run = run if base_plan.run_id == plan.run_id else read_run(bucket, base_plan)
    return write_comparison(bucket, (base_run, base_version), (run, version), vega)


def write_comparison(
    bucket: Bucket, base: tuple[StoredRun, str], new: tuple[StoredRun, str], vega: Vega
) -> dict[str, str]:
    """Write the comparison of two versions of runs as they were read; return each form's key.

    The page of flame graphs of a test has the name ``functions-TEST``.
    """
    suite = new[0].plan.suite.name
    both = sides(base, new)
    functions = write_functions_between(
        bucket, *((run.plan, version) for run, version in (base, new))
    )
    base_key, new_key = ((run.plan.run_id, version) for run, version in (base, new))
    written = write_texts(
        bucket,
        lambda form: keys.comparison(suite, base_key, new_key, form),
        _forms(both, functions, vega),
    )
    return {
        f"{keys.FLAME_GRAPHS}{each.test}": each.page for each in functions if each.page
    } | written


def _forms(both: Sides, functions: Sequence[Grown], vega: Vega) -> Iterator[tuple[str, str]]:
    """Yield each form of a comparison with its text."""
    contents = comparison(both, functions)
    yield "html", page(contents, vega())
    yield "json", document(both).model_dump_json(indent=2) + "\n"
    yield keys.BLOCKS, dump(contents)
    yield "md", comment(contents)


# The longest comment on GitHub, in characters.
_LONGEST_COMMENT = 65_536
# The most rows of a chart's table; a sentence refers to the page for longer tables.
_MOST_ROWS = (40, 10, 0)


def comment(report: Report) -> str:
    """Return a comparison as Markdown, as much of it as a comment holds.

    Rows of charts are left out first, then the longest sections; the text names what is left out.
    """
    return next(text for text in _ever_shorter(report) if len(text) <= _LONGEST_COMMENT)


def _ever_shorter(report: Report) -> Iterator[str]:
    for rows in _MOST_ROWS:
        yield markdown(report, rows)
    longest = sorted(report.sections, key=lambda section: -_section_length(section))
    for count in range(1, len(longest) + 1):
        yield markdown(_without(report, longest[:count]), _MOST_ROWS[-1])


def _section_length(section: Section) -> int:
    return len(markdown(Report("", (), (section,)), _MOST_ROWS[-1]))


def _without(report: Report, left_out: list[Section]) -> Report:
    headings = [section.heading for section in report.sections if section in left_out]
    why = f"A comment holds {_LONGEST_COMMENT:,} characters. The page has more: {listed(headings)}."
    return report._replace(
        sections=(
            *(section for section in report.sections if section not in left_out),
            Section("Left out", (why,)),
        ),
    )
