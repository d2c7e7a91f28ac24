"""``tidemark profile compare``: the functions that grew between two versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from tidemark.cli.chosen_suite import suite_to_read
from tidemark.cli.profile.options import (
    check_test,
    output_option,
    page_scripts,
    plan_of,
    profiled_trials,
    profiles_by_version,
)
from tidemark.cli.saving import format_option, save, show
from tidemark.cli.target import Target, stored, target_options
from tidemark.figures.profiles.growth import Comparison, FunctionChange, compare
from tidemark.figures.profiles.growth_sentence import growth_sentences, interval
from tidemark.figures.verdicts.welch import TrialChange
from tidemark.model.numerals import figure
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.run_id import is_run_id
from tidemark.model.sentences import listed, shown, visible
from tidemark.report.flame_page import differential_page, profiled_version

_MOST_UNTOLD = 10
_FOR_PEOPLE = frozenset({"table", "markdown"})


@click.command("compare")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] [BASE... NEW]")
@click.option("--suite", help="The profiled system.")
@click.option("--test", default="", callback=check_test, help="Only the profiles of this test.")
@click.option(
    "--pairs",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="File with a line for each function that has another name in another version, such as "
    "'AddToOutput / BlockBasedTableBuilder::Add'.",
)
@click.option("--all", "everything", is_flag=True, help="Print every function.")
@output_option
@format_option
@target_options
def command(
    words: Sequence[str],
    suite: str | None,
    test: str,
    pairs: Path | None,
    everything: bool,
    output: Path | None,
    form: str,
    target: Target,
) -> None:
    """Show which functions take more CPU time in version NEW than in BASE.

    With a RUN, the command compares only the profiles of its trials. Then BASE may be left out for
    the run's baseline, or else its oldest version, and NEW for the newest other version.

    Profiles that were imported with --cpu-seconds and --records are compared by their CPU time per
    million records. Other profiles are compared by their shares of all samples: the share of a
    function also shrinks when another function grows.

    Each profile counts as a trial. With several profiles of both versions, an interval and a
    p-value, which is corrected for the number of functions, tell a change from scatter, if the
    profiles of both scatter alike.

    The largest growths come first. Versions between BASE and NEW have a column of shares each.

    Functions that only one version has are left out of the stacks and named below the table.
    Renamed functions are matched by their callers and children, or by --pairs: a sample of several
    names of one line counts once, so that a caller and what it calls are summed.

    \b
    Example:
      tidemark profile compare 8.8.1 9.8.4 --suite rocksdb --test ingest
      tidemark profile compare 20261120T124455Z-0a1b2c --test ingest
    """
    run, versions = _run_and_versions(words)
    scripts = page_scripts(output)
    with stored(target) as store:
        bucket = store.bucket
        if run:
            plan = plan_of(store, target, run, suite)
            suite, versions = plan.suite.name, versions or _compared_versions(plan)
        suite = suite_to_read(suite, store.tables)
        base, *between, new = versions
        found = profiles_by_version(bucket, suite, test, versions, run)
        trials = {version: profiled_trials(bucket, found[version]) for version in versions}
    sides = trials[base], trials[new]
    comparison = compare(*sides, _pairs(pairs), [trials[version] for version in between])
    changes = comparison.changes
    if form in _FOR_PEOPLE and not everything:
        changes = list(_first_rows(changes))
    rows = [_row(each, versions, comparison, form) for each in changes]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    show(columns, rows, form)
    numbers = len(sides[0]), len(sides[1])
    sentences = list(growth_sentences(comparison, base, new, numbers))
    for sentence in sentences:
        # Standard output holds only the table that people keep.
        click.echo(visible(sentence), err=form != "table")
    if output:
        both = profiled_version(base, sides[0]), profiled_version(new, sides[1])
        title = f"{suite} {found[new][0].test}".rstrip() + f": {new} against {base}"
        page = differential_page(title, *both, comparison, scripts)
        save(output, page.encode())
        click.echo(output, err=form != "table")


def _run_and_versions(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the run that a command names, '' without one, and two versions or more, or none."""
    run, versions = (words[0], words[1:]) if is_run_id(words[0]) else ("", words)
    if len(versions) < 2 and (versions or not run):
        raise Refused(f"BASE NEW: {listed(words)} is not accepted; expected RUN, BASE NEW or both")
    if twice := [version for version in versions if versions.count(version) > 1]:
        raise Refused(f"BASE NEW: {shown(twice[0])} is given twice; name each version once")
    return run, versions


def _pairs(file: Path | None) -> list[str]:
    """Return the lines of a file that are neither empty nor remarks."""
    lines = file.read_text(encoding="utf-8").splitlines() if file else []
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _compared_versions(plan: Plan) -> Sequence[str]:
    """Return the baseline of a run, or else its oldest version, and the newest of the others."""
    ordered = plan.ascending
    if plan.request.baseline is None and not plan.knows_order:
        raise Refused(
            f"RUN: the order of {listed(ordered)} in {plan.run_id} is not known; name BASE and NEW"
        )
    base = plan.request.baseline or ordered[0]
    others = [version for version in ordered if version != base]
    if not others:
        raise Refused(f"RUN: {plan.run_id} measured {base} alone; expected two versions or more")
    return base, others[-1]


def _first_rows(changes: Sequence[FunctionChange]) -> Iterator[FunctionChange]:
    """Yield all changes that the profiles tell, and the largest others of each kind."""
    others = Counter[str]()
    for each in changes:
        others[each.kind] += not each.is_told
        if others[each.kind] <= _MOST_UNTOLD:
            yield each


def _row(
    found: FunctionChange, versions: Sequence[str], comparison: Comparison, form: str
) -> dict[str, str | None]:
    share, seconds, (base, *between, new) = found.share, found.seconds, versions
    key = found.function, found.kind
    row: dict[str, str | None] = {
        "Function": found.function,
        "Time": found.kind,
        f"{base} (%)": f"{100 * share.base:.2f}",
        **{
            f"{version} (%)": f"{100 * shares.get(key, 0.0):.2f}"
            for version, shares in zip(between, comparison.between, strict=True)
        },
        f"{new} (%)": f"{100 * share.new:.2f}",
        "Change (points)": f"{100 * share.difference:+z.2f}",
        **_ends(share, 100, 2, "points", form),
    }
    if seconds:
        written = figure if form in _FOR_PEOPLE else "{:.6g}".format
        row |= {
            f"{base} (s/M records)": written(seconds.base),
            f"{new} (s/M records)": written(seconds.new),
            **_ends(seconds, 1, 4, "s/M records", form),
        }
    p_value = None if found.judged.half_width is None else f"{found.p_value:.4f}"
    return {**row, "p": p_value, "Verdict": found.word}


def _ends(
    change: TrialChange, scale: float, places: int, unit: str, form: str
) -> Mapping[str, str | None]:
    """Return the interval of a difference: a text for people, and two numbers for programs."""
    if form in _FOR_PEOPLE:
        return {f"95 % interval ({unit})": interval(change, scale, places)}
    columns = f"Low ({unit})", f"High ({unit})"
    if change.ends is None:
        return dict.fromkeys(columns)
    numbers = (f"{scale * end:z.{places}f}" for end in change.ends)
    return dict(zip(columns, numbers, strict=True))
