"""The forms of a comparison in the results bucket: a page, a document, blocks and a comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.document import document
from tidemark.report.comparison.pull_request import comment
from tidemark.report.comparison.sides import Sides, sides
from tidemark.report.grown_functions import Grown, write_functions_between
from tidemark.report.json_form import dump
from tidemark.report.page import page
from tidemark.report.text_files import Vega, write_texts
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.stored_run import StoredRun


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
