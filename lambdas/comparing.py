"""Comparing two versions: which runs that takes, and where the comparison is kept."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice, pairwise

from lambdas.aws import Bucket
from lambdas.comparison.comment import comment
from lambdas.comparison.contents import comparison
from lambdas.comparison.sides import sides
from lambdas.report.page import packed_vega, page
from lambdas.stored import StoredRun, find_plan, read_run
from suites import keys
from suites.plan import Plan
from suites.refusal import Refused, listed
from suites.sides import Named, named
from suites.versions import NEWEST, PREVIOUS, latest

# Among so many runs of two versions one of both is sought, and so many are listed at once.
_LATE = 1_000
_AT_ONCE = 20


def compare(bucket: Bucket, suite: str, base: str, new: str) -> dict[str, str]:
    """Write the comparison of two sides as they are named; return the key of each form.

    Of two versions, that is the newest run with rates of both. Of a version that is in no run with
    the other, or is named beside a run, NEW is its newest run, and BASE the run of NEW if that has
    rates of it, too, or else its newest other. Rates are those that count, of trials that are not
    left out; of the versions that have some, ``newest`` and ``previous`` are the last two. How many
    runs are stored does not matter.

    Raises
    ------
    Refused
        In a sentence, if a side is not stored or both are the same.

    """
    wanted, asked = (
        _meant(bucket, suite, side, named(side, given))
        for side, given in (("NEW", new), ("BASE", base))
    )
    if wanted.run_id is None and asked.run_id is None:
        wanted = Named(_run_of_both(bucket, suite, wanted, asked), wanted.version)
    plan, version = _found(bucket, suite, "NEW", wanted)
    if asked.run_id is None and asked.version != version and _has(bucket, plan, asked.version):
        asked = Named(plan.run_id, asked.version)
    base_plan, base_version = _found(bucket, suite, "BASE", asked, but=plan.run_id)
    if (base_plan.run_id, base_version) == (plan.run_id, version):
        raise Refused(
            f"NEW: {version} of run {plan.run_id} is what BASE is, too; name another version, or "
            "another run of it as RUN/VERSION"
        )
    run = read_run(bucket, plan)
    base_run = run if base_plan.run_id == plan.run_id else read_run(bucket, base_plan)
    return write_comparison(bucket, (base_run, base_version), (run, version))


def write_comparison(
    bucket: Bucket, base: tuple[StoredRun, str], new: tuple[StoredRun, str]
) -> dict[str, str]:
    """Write the comparison of two versions of runs as they were read; return each form's key."""
    said = comparison(sides(base, new))
    forms = {
        "md": comment(said),
        "html": page(said, packed_vega()),
    }
    base_key, new_key = ((run.plan.run_id, version) for run, version in (base, new))
    written = {
        form: keys.comparison(new[0].plan.suite.name, base_key, new_key, form) for form in forms
    }
    for form, text in forms.items():
        bucket.write(written[form], text.encode())
    return written


def _meant(bucket: Bucket, suite: str, side: str, asked: Named) -> Named:
    """Return a side with the version that ``newest`` or ``previous`` stands for."""
    word = asked.version
    if asked.run_id is not None or word not in (NEWEST, PREVIOUS):
        return asked
    known = latest(bucket.folders(keys.versions_of(suite)))
    if word not in known:
        found = ", ".join(known.values()) or "none"
        raise Refused(f"{side}: no version is the {word} of {suite}; with a rate there is {found}")
    return Named(None, known[word])


def _found(
    bucket: Bucket, suite: str, side: str, asked: Named, but: str | None = None
) -> tuple[Plan, str]:
    """Return the plan of the run that a side names, and its version.

    Of a version that is named alone, that is its newest run, but for one.
    """
    run_id = asked.run_id or _newest(bucket, suite, side, asked.version or "", but)
    plan = find_plan(bucket, run_id)
    if plan is None:
        raise Refused(f"{side}: run {run_id} is not stored")
    if plan.suite.name != suite:
        raise Refused(f"{side}: run {run_id} is of the suite {plan.suite.name}, not {suite}")
    measured = plan.request.versions
    version = asked.version or (measured[0] if len(measured) == 1 else None)
    if version is None:
        raise Refused(
            f"{side}: run {run_id} measured {listed(measured)}; name one of them, as "
            f"{run_id}/{measured[0]}"
        )
    if version not in measured:
        raise Refused(f"{side}: run {run_id} measured {listed(measured)}, not {version}")
    return plan, version


def _run_of_both(bucket: Bucket, suite: str, one: Named, other: Named) -> str | None:
    """Return the newest run with rates of two versions: what is measured in turns compares best.

    None if there is none of late, or the versions are one.
    """
    if one.version == other.version:
        return None
    each = (_runs(bucket, suite, side.version or "") for side in (one, other))
    late = islice(heapq.merge(*each, reverse=True), _LATE)
    return next((run_id for run_id, next_one in pairwise(late) if run_id == next_one), None)


def _has(bucket: Bucket, plan: Plan, version: str | None) -> bool:
    """Tell whether a run has a rate of a version that counts."""
    key = keys.run_of_version(plan.suite.name, version or "", plan.run_id)
    return key in bucket.keys(key)


def _newest(bucket: Bucket, suite: str, side: str, version: str, but: str | None) -> str:
    """Return the newest run with a rate of a version, but for one."""
    runs = _runs(bucket, suite, version)
    found = next((run_id for run_id in runs if run_id != but), None)
    if found is None:
        other = f" beside {but}" if but else ""
        raise Refused(f"{side}: no run{other} with a rate of {suite} {version} is known")
    return found


def _runs(bucket: Bucket, suite: str, version: str) -> Iterator[str]:
    """Yield the runs with a rate of a version, the newest first."""
    prefix = keys.runs_of(suite, version)
    for key in bucket.keys(prefix, _AT_ONCE):
        yield key.removeprefix(prefix).split("-", 1)[1]
