"""The two sides of a comparison, its forms in the results bucket, and its comment.

`choose_sides` finds the run and the version of each side. The comment is for a pull request.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise

from tidemark.model.comment import Comment
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.sentences import did_you_mean, listed
from tidemark.model.version_order import NEWEST, PREVIOUS, SideName, latest, parse_side
from tidemark.report.blocks import Report, Section
from tidemark.report.comments import comments_on
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.document import document
from tidemark.report.comparison.sides import Sides, sides
from tidemark.report.files import dump, write_images, write_texts
from tidemark.report.grown_functions import Grown, write_functions_between
from tidemark.report.markdown import markdown
from tidemark.report.page import page
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.run_objects import read_comments
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import StoredRun, read_run


def publish_comparison(bucket: Bucket, suite: str, base: str, new: str) -> dict[str, str]:
    """Write the comparison of two named sides; return the key of each form.

    Raises
    ------
    Refused
        If a side is not stored, or both sides are the same.

    """
    return write_comparison(bucket, *read_sides(bucket, suite, base, new))


def read_sides(
    bucket: Bucket, suite: str, base: str, new: str
) -> tuple[tuple[StoredRun, str], tuple[StoredRun, str]]:
    """Return the run and version of each of two named sides, BASE first, as they are stored.

    Raises
    ------
    Refused
        If a side is not stored, or both sides are the same.

    """
    (base_plan, base_version), (plan, version) = choose_sides(bucket, suite, base, new)
    run = read_run(bucket, plan)
    base_run = run if base_plan.run_id == plan.run_id else read_run(bucket, base_plan)
    return (base_run, base_version), (run, version)


def write_comparison(
    bucket: Bucket, base: tuple[StoredRun, str], new: tuple[StoredRun, str]
) -> dict[str, str]:
    """Write the comparison of two versions of runs as they were read; return each form's key.

    The page of flame graphs of a test has the name ``functions-TEST``.
    """
    suite = new[0].plan.suite.name
    both = sides(base, new)
    said = comments_on(read_comments(bucket, new[0].plan.run_id), both)
    write_images(bucket, suite, new[0].plan.run_id, said)
    functions = write_functions_between(
        bucket, *((run.plan, version) for run, version in (base, new))
    )
    base_key, new_key = ((run.plan.run_id, version) for run, version in (base, new))
    written = write_texts(
        bucket,
        lambda form: keys.comparison(suite, base_key, new_key, form),
        _forms(both, functions, said),
    )
    return {
        f"{keys.FLAME_GRAPHS}{each.test}": each.page for each in functions if each.page
    } | written


def _forms(
    both: Sides, functions: Sequence[Grown], said: Sequence[Comment]
) -> Iterator[tuple[str, str]]:
    """Yield each form of a comparison with its text."""
    contents = comparison(both, functions, said)
    yield "html", page(contents)
    yield "json", document(both, said).model_dump_json(indent=2) + "\n"
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


# Search at most 1,000 runs for one that measured both versions; list 20 of them at a time.
_MOST_RUNS = 1_000
_AT_ONCE = 20


RunVersion = tuple[Plan, str]
"""A version of a run, with the run's plan."""


def choose_sides(bucket: Bucket, suite: str, base: str, new: str) -> tuple[RunVersion, RunVersion]:
    """Return the run and version of each of two named sides, BASE first.

    Two versions mean the newest run with rates of both. Otherwise NEW without a run means the
    version's newest run. BASE without a run means the run of NEW if that run has rates of BASE, or
    else the newest other run of BASE. Runs that were aborted stand back behind others. Only counted
    rates are searched; ``newest`` and ``previous`` are the last two versions with such rates. The
    search time does not depend on the number of stored runs.

    Raises
    ------
    Refused
        If a side is not stored, or both sides are the same.

    """
    new_side, base_side = (
        _without_words(bucket, suite, side, parse_side(side, name))
        for side, name in (("NEW", new), ("BASE", base))
    )
    if new_side.run_id is None and base_side.run_id is None:
        common = _run_of_both(bucket, suite, new_side, base_side)
        new_side = SideName(common, new_side.version)
    plan, version = _plan_and_version(bucket, suite, "NEW", new_side)
    if (
        base_side.run_id is None
        and base_side.version != version
        and _has_rate(bucket, plan, base_side.version)
    ):
        base_side = SideName(plan.run_id, base_side.version)
    base_plan, base_version = _plan_and_version(
        bucket, suite, "BASE", base_side, except_run=plan.run_id
    )
    if (base_plan.run_id, base_version) == (plan.run_id, version):
        raise Refused(
            f"NEW: {version} of run {plan.run_id} is BASE, too; name another version, or another "
            "run as RUN/VERSION"
        )
    return (base_plan, base_version), (plan, version)


def _without_words(bucket: Bucket, suite: str, side: str, side_name: SideName) -> SideName:
    """Return a side with a version in place of ``newest`` and ``previous``."""
    word = side_name.version
    if side_name.run_id is not None or word not in (NEWEST, PREVIOUS):
        return side_name
    versions = list(bucket.folders(keys.versions_of(suite)))
    by_word = latest(versions, packaged=_is_packaged(bucket, suite, versions))
    if word not in by_word:
        rated = ", ".join(by_word.values()) or "none"
        raise Refused(
            f"{side}: {suite} has no {word} version; versions with a rate that counts: {rated}"
        )
    return SideName(None, by_word[word])


def _is_packaged(bucket: Bucket, suite: str, versions: Sequence[str]) -> bool:
    """Tell whether a suite measures a package, as the plan of one of its runs says."""
    run_id = next(_runs(bucket, suite, versions[0]), None) if versions else None
    plan = find_plan(bucket, run_id) if run_id else None
    return plan is not None and plan.suite.subject.is_packaged


def _plan_and_version(
    bucket: Bucket, suite: str, side: str, side_name: SideName, except_run: str | None = None
) -> RunVersion:
    """Return the plan of a side's run, and its version.

    A version without a run means its newest run, other than ``except_run``.
    """
    run_id = side_name.run_id or _newest(bucket, suite, side, side_name.version or "", except_run)
    plan = find_plan(bucket, run_id)
    if plan is None:
        raise Refused(f"{side}: run {run_id} is not stored")
    if plan.suite.name != suite:
        raise Refused(f"{side}: run {run_id} is of the suite {plan.suite.name}, not {suite}")
    measured = plan.request.versions
    version = side_name.version or (measured[0] if len(measured) == 1 else None)
    if version is None:
        raise Refused(
            f"{side}: run {run_id} measured {listed(measured)}; name one of them, as "
            f"{run_id}/{measured[0]}"
        )
    if version not in measured:
        raise Refused(f"{side}: run {run_id} measured {listed(measured)}, not {version}")
    return plan, version


def _run_of_both(bucket: Bucket, suite: str, first: SideName, second: SideName) -> str | None:
    """Return the preferred run with rates of two versions, None if no recent run has both.

    Versions that one run measures in turns compare best. Return None for the same version twice.
    """
    if first.version == second.version:
        return None
    runs = (_runs(bucket, suite, side.version or "") for side in (first, second))
    recent = islice(heapq.merge(*runs, reverse=True), _MOST_RUNS)
    both = (run_id for run_id, following in pairwise(recent) if run_id == following)
    return _preferred(bucket, both)


def _preferred(bucket: Bucket, newest_first: Iterator[str]) -> str | None:
    """Return the newest run that was not aborted, or else the newest one; None without a run.

    An aborted run may have few trials.
    """
    newest = next(newest_first, None)
    if newest is None:
        return None
    runs = chain([newest], newest_first)
    return next((run_id for run_id in runs if not _is_aborted(bucket, run_id)), newest)


def _is_aborted(bucket: Bucket, run_id: str) -> bool:
    stored = bucket.find(keys.outcome(run_id))
    return stored is not None and json.loads(stored.body)["status"] == "aborted"


def _has_rate(bucket: Bucket, plan: Plan, version: str | None) -> bool:
    """Tell whether a run has a counted rate of a version."""
    key = keys.run_of_version(plan.suite.name, version or "", plan.run_id)
    return key in bucket.keys(key)


def _newest(bucket: Bucket, suite: str, side: str, version: str, except_run: str | None) -> str:
    """Return the preferred run with a rate of a version, other than ``except_run``."""
    runs = _runs(bucket, suite, version)
    others = (run_id for run_id in islice(runs, _MOST_RUNS) if run_id != except_run)
    newest = _preferred(bucket, others)
    if newest is None:
        known = list(bucket.folders(keys.versions_of(suite)))
        if version in known:
            only = f"{except_run} is the only run with a rate of {suite} {version} that counts"
            raise Refused(f"{side}: {only}; name another version")
        near = did_you_mean(version, known)
        raise Refused(f"{side}: no run has a rate of {suite} {version} that counts{near}")
    return newest


def _runs(bucket: Bucket, suite: str, version: str) -> Iterator[str]:
    """Yield the runs with a rate of a version, the newest first."""
    prefix = keys.runs_of(suite, version)
    for key in bucket.keys(prefix, _AT_ONCE):
        yield key.removeprefix(prefix).split("-", 1)[1]
