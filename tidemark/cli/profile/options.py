"""The stored profiles of a suite and a test, for commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

import click

from tidemark.cli.saving import check_folder, check_page
from tidemark.cli.target import Target
from tidemark.client.deployed import Stored
from tidemark.figures.profiles.growth import ProfiledTrial
from tidemark.model.plan import Plan
from tidemark.model.profile import Profile
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shown, there_are
from tidemark.report.flame_page import flame_graph_scripts
from tidemark.store.bucket import Bucket
from tidemark.store.stored_profile import read_profiles, read_stacks

output_option = click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.html",
    callback=check_page,
    help="Page to write flame graphs into, besides the table.",
)

# The names of tests that others publish, such as l.i1.
_TEST = "[A-Za-z0-9][A-Za-z0-9._+-]{0,63}"


def check_test(_: click.Context, __: click.Parameter, value: str) -> str:
    """Return the name of a test, '' without one."""
    if value and not re.fullmatch(_TEST, value):
        raise Refused(f"--test: {shown(value)} is not accepted; expected a name such as l.i1")
    return value


def plan_of(store: Stored, target: Target, run: str, suite: str | None = None) -> Plan:
    """Return the plan of a run; refuse one that is not stored, or is of another suite."""
    plan = target.plan(store.bucket, run)
    if suite not in {None, plan.suite.name}:
        raise Refused(f"--suite: {run} is a run of {plan.suite.name}, not of {suite}")
    return plan


def page_scripts(output: Path | None) -> str:
    """Return what draws the graphs of a page, '' without a page; refuse one that would fail."""
    check_folder(output)
    return flame_graph_scripts() if output else ""


def profiles_of(bucket: Bucket, suite: str, test: str, run: str = "") -> list[Profile]:
    """Return the profiles of a suite, perhaps of one test or of the trials of one run.

    Raises
    ------
    Refused
        If there are none.

    """
    of_suite = (each for each in read_profiles(bucket, suite) if not run or each.run == run)
    if found := [each for each in of_suite if test in {"", each.test}]:
        return found
    of_test = f" of test {test}" if test else ""
    if run:
        hint = "`tidemark run --profile` takes profiles"
        raise Refused(f"RUN: {run} has no profile{of_test}; {hint}")
    hint = f"`tidemark profile import FILE --suite {suite} --version VERSION` adds one"
    raise Refused(f"suite: {suite} has no profile{of_test}; {hint}")


def profiled_trials(bucket: Bucket, profiles: Iterable[Profile]) -> list[ProfiledTrial]:
    """Return the samples of profiles; each profile counts as a trial."""
    return [ProfiledTrial(read_stacks(bucket, each), each.seconds, each.drawn) for each in profiles]


def check_unit(suite: str, profiles: Sequence[Profile]) -> None:
    """Refuse profiles of different units."""
    units = sorted({each.unit for each in profiles})
    if len(units) > 1:
        raise Refused(
            f"unit: the profiles of {suite} count {listed(units)}; expected one unit; remove the "
            "others with `tidemark profile remove`"
        )


def profiles_by_version(
    bucket: Bucket, suite: str, test: str, versions: Sequence[str] = (), run: str = ""
) -> dict[str, list[Profile]]:
    """Return the profiles of a test by version, in the order of versions; all without ``versions``.

    With a ``run`` they are the profiles of its trials alone.

    Raises
    ------
    Refused
        If there are none, a version has none, or the profiles are of several tests or count
        different units.

    """
    found = profiles_of(bucket, suite, test, run)
    tests = sorted({each.test for each in found})
    if len(tests) > 1:
        names = listed(name or "no test" for name in tests)
        raise Refused(f"--test: the profiles of {suite} are of {names}; expected one of them")
    # Versions such as 1.0 and 1.00 have one place in the order.
    ordered = sorted(found, key=lambda each: (each.version_order, each.version))
    by_version = {
        version: list(group) for version, group in groupby(ordered, key=lambda each: each.version)
    }
    for version in versions:
        if version not in by_version:
            of_test = f" of test {test}" if test else ""
            in_run = f" in run {run}" if run else ""
            raise Refused(
                f"version: {shown(version)} has no profile{of_test}{in_run}; "
                f"{there_are(by_version, version)}"
            )
    chosen = {version: by_version[version] for version in versions or by_version}
    check_unit(suite, [each for profiles in chosen.values() for each in profiles])
    return chosen
