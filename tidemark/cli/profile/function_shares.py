"""``tidemark profile show``: the shares of functions by version, tower by tower."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from tidemark.cli.chosen_suite import suite_to_read
from tidemark.cli.profile.options import (
    check_test,
    output_option,
    page_scripts,
    plan_of,
    profiles_by_version,
)
from tidemark.cli.saving import format_option, save, show
from tidemark.cli.target import Target, stored, target_options
from tidemark.figures.profiles.call_tree import Frame, Place, call_tree, child_shares, share
from tidemark.figures.profiles.folded_stacks import merged
from tidemark.model.profile import Profile
from tidemark.model.refusal import Refused
from tidemark.model.run_id import is_run_id
from tidemark.model.sentences import listed, shown
from tidemark.report.flame_page import NOT_DRAWN, Graph, flame_graph_scripts, flame_page
from tidemark.store.bucket import Bucket
from tidemark.store.stored_profile import read_stacks

_Shares = Mapping[str, float]
"""Shares of all samples by function [%]."""
_NO_FRAME = "x"


@click.command("show")
@click.argument("suite", required=False, metavar="[SUITE|RUN]")
@click.option("--test", default="", callback=check_test, help="Only the profiles of this test.")
@click.option("--version", "versions", multiple=True, help="Only this version; may be repeated.")
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="NAME",
    help="Function to show; may be repeated. NAME may be the end of its name. 'NAME / NAME' is a "
    "function that was renamed.",
)
@click.option(
    "--children-of", metavar="NAME", help="Show the functions that the largest frame of NAME calls."
)
@click.option(
    "--under",
    multiple=True,
    metavar="NAME",
    help="Only frames that NAME calls, itself or through others; may be repeated, the outermost "
    "caller first.",
)
@click.option(
    "--outside",
    multiple=True,
    metavar="NAME",
    help="Leave out NAME and all that it calls; may be repeated.",
)
@click.option(
    "--sum", "summed", is_flag=True, help="Add up all frames of a name in place of the largest."
)
@click.option(
    "--least",
    type=click.FloatRange(0, 100),
    default=0.5,
    show_default=True,
    help="Least share [%] of a child that is shown, in any version.",
)
@output_option
@format_option
@target_options
def command(
    suite: str | None,
    test: str,
    versions: Sequence[str],
    functions: Sequence[str],
    children_of: str | None,
    under: Sequence[str],
    outside: Sequence[str],
    summed: bool,
    least: float,
    output: Path | None,
    form: str,
    target: Target,
) -> None:
    """Show the share of functions in all samples, by version [%].

    A share counts one frame and all that it calls. If several frames have the name, the largest
    counts; --under and --outside restrict the choice. Without --function and --children-of, the
    outermost functions are shown. x means that the version has no such frame.

    The profiles of a version are added up; with a RUN only the profiles of its trials.

    \b
    Example:
      tidemark profile show rocksdb --under WriteImpl --function MemTable::Add
    """
    if functions and children_of:
        raise Refused("--children-of: not accepted with --function; expected one of both")
    if under and not (functions or children_of):
        raise Refused(f"--under: {listed(under)} has no effect without --function or --children-of")
    if summed and not functions:
        raise Refused("--sum has no effect without --function")
    scripts = page_scripts(output)
    with stored(target) as store:
        bucket, run = store.bucket, suite if suite and is_run_id(suite) else ""
        suite = plan_of(store, target, run).suite.name if run else suite
        suite = suite_to_read(suite, store.tables)
        found = profiles_by_version(bucket, suite, test, versions, run)
        trees = {version: _tree(bucket, profiles) for version, profiles in found.items()}
    place = Place(under, outside)
    if functions:
        functions = list(dict.fromkeys(functions))
        shares = {
            version: _shares(tree, functions, place, summed) for version, tree in trees.items()
        }
        names = functions
    else:
        shares = {
            version: child_shares(tree, children_of, place) for version, tree in trees.items()
        }
        names = _children(shares.values(), least)
    _check(shares.values(), names, children_of, least)
    _show(shares, names, form)
    # Standard output holds only the table that people keep.
    click.echo(_meaning(place, summed=summed), err=form != "table")
    if output:
        save(output, _page(suite, trees, found, scripts).encode())
        click.echo(output, err=form != "table")


def versions_page(bucket: Bucket, suite: str, found: Mapping[str, Sequence[Profile]]) -> str:
    """Return the page of the flame graphs of versions, from their profiles.

    Raises
    ------
    Refused
        If the library that draws them is not installed.

    """
    scripts = flame_graph_scripts()
    trees = {version: _tree(bucket, profiles) for version, profiles in found.items()}
    return _page(suite, trees, found, scripts)


def _page(
    suite: str,
    trees: Mapping[str, Frame],
    found: Mapping[str, Sequence[Profile]],
    scripts: str,
) -> str:
    graphs = [
        Graph(version, version, _note(tree, found[version][0].unit), tree)
        for version, tree in trees.items()
    ]
    (tested,) = {each.test for profiles in found.values() for each in profiles}
    title = f"Flame graphs of {suite} {tested}".rstrip()
    return flame_page(title, [], [NOT_DRAWN], graphs, scripts)


def _tree(bucket: Bucket, profiles: Iterable[Profile]) -> Frame:
    return call_tree(merged(read_stacks(bucket, each) for each in profiles))


def _note(tree: Frame, unit: str) -> str:
    return f"{tree.samples:,} {unit}. The width of a frame is its share of them."


def _shares(tree: Frame, functions: Sequence[str], place: Place, summed: bool) -> _Shares:
    found = {name: share(tree, name, place, summed=summed) for name in functions}
    return {name: figure for name, figure in found.items() if figure is not None}


def _children(shares: Iterable[_Shares], least: float) -> list[str]:
    """Return the children with the least share in some version, the largest first."""
    most: dict[str, float] = {}
    for of_version in shares:
        for name, figure in of_version.items():
            most[name] = max(figure, most.get(name, 0.0))
    large = [name for name, figure in most.items() if figure >= least]
    return sorted(large, key=lambda name: (-most[name], name))


def _check(
    shares: Iterable[_Shares], names: Sequence[str], children_of: str | None, least: float
) -> None:
    """Refuse a function that no version has at the place, and a least share that none has."""
    known = set().union(*shares)
    missing = [name for name in names if name not in known]
    if known and not names:
        raise Refused(f"--least: no function has {least:g} % of all samples in any version")
    if missing or not names:
        option, name = ("--function", missing[0]) if missing else ("--children-of", children_of)
        raise Refused(
            f"{option}: no version has a frame of {shown(name)} with calls at this place; "
            "`tidemark profile show --children-of NAME` lists the functions that NAME calls"
        )


def published_shares(
    bucket: Bucket, suite: str, test: str, functions: Sequence[str], place: Place
) -> list[dict[str, str | None]]:
    """Return the rows of the shares [%] of functions by version, as documentation has them.

    Raises
    ------
    Refused
        If the suite has no profiles of the test, or no version has a function at the place.

    """
    shares = {
        version: _shares(_tree(bucket, profiles), functions, place, summed=False)
        for version, profiles in profiles_by_version(bucket, suite, test).items()
    }
    _check(shares.values(), functions, None, 0)
    return _rows(shares, functions, _NO_FRAME)


def _show(shares: Mapping[str, _Shares], names: Sequence[str], form: str) -> None:
    missing = None if form in {"json", "ndjson"} else _NO_FRAME
    show(["Version", *names], _rows(shares, names, missing), form)


def _rows(
    shares: Mapping[str, _Shares], names: Sequence[str], missing: str | None
) -> list[dict[str, str | None]]:
    return [
        {
            "Version": version,
            **{name: f"{found[name]:.2f}" if name in found else missing for name in names},
        }
        for version, found in shares.items()
    ]


def _meaning(place: Place, *, summed: bool) -> str:
    """Return how the figures are to be read."""
    frames = "all frames of the name" if summed else "the largest frame of the name"
    under = f" under {listed(place.under)}" if place.under else ""
    outside = f" outside {listed(place.outside)}" if place.outside else ""
    return f"% of all samples, for {frames}{under}{outside}; {_NO_FRAME}: the version has none."
