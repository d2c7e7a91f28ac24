"""The functions that grew or shrank between the profiled trials of two versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from tidemark.figures.profiles.folded_stacks import SEPARATOR
from tidemark.figures.profiles.growth import ProfiledTrial, compare
from tidemark.figures.profiles.growth_sentence import growth_sentences
from tidemark.model.plan import Plan
from tidemark.model.results import TrialResult
from tidemark.model.run_id import place_of
from tidemark.report.blocks import Block, Bullets, Link
from tidemark.report.flame_page import (
    ProfiledVersion,
    differential_page,
    installed_scripts,
    profiled_version,
)
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.run_objects import each_profiled
from tidemark.store.stored_profile import profiles_of_trials, read_stacks

# The frames of all stacks of a version: their call tree takes some 250 bytes for each.
_MOST_FRAMES = 1_000_000


class _VersionProfiles(NamedTuple):
    """The profiled trials of one version of a run."""

    plan: Plan
    version: str
    trials: Sequence[TrialResult]


class Grown(NamedTuple):
    """The functions of one test in two versions."""

    test: str
    base: str
    new: str
    sentences: tuple[str, ...]
    command: str
    """The command that prints all functions and draws the flame graphs."""
    page: str
    """The key of the page of flame graphs, '' without one."""


def _version_profiles(plan: Plan, version: str, trials: Iterable[TrialResult]) -> _VersionProfiles:
    """Return the profiled trials of a version."""
    return _VersionProfiles(plan, version, [each for each in trials if each.version == version])


def _between(bucket: Bucket, base: _VersionProfiles, new: _VersionProfiles) -> Iterator[Grown]:
    """Write the flame graphs of each test that both versions have profiles of; yield what grew."""
    for test in (test.name for test in new.plan.suite.tests):
        sides = [list(_profiled(bucket, side, test)) for side in (base, new)]
        if all(sides):
            yield _write_grown(bucket, base, new, test, sides)


def _write_grown(
    bucket: Bucket,
    base: _VersionProfiles,
    new: _VersionProfiles,
    test: str,
    trials: Sequence[Sequence[ProfiledTrial]],
) -> Grown:
    versions, suite = (base.version, new.version), new.plan.suite
    of_base, of_new = trials
    found = compare(of_base, of_new)
    sentences = tuple(growth_sentences(found, *versions, (len(of_base), len(of_new))))
    drawn = profiled_version(base.version, of_base), profiled_version(new.version, of_new)
    key, scripts = "", installed_scripts()
    if scripts and all(map(_is_drawn, drawn)):
        base_place, place = ((each.plan.run_id, each.version) for each in (base, new))
        key = keys.flame_graphs(suite.name, base_place, place, test)
        title = f"{suite.title} {test}: {new.version} against {base.version}"
        page = differential_page(title, *drawn, found, scripts)
        bucket.write(key, page.encode())
    return Grown(test, *versions, sentences, _command(base, new, test), key)


def _is_drawn(version: ProfiledVersion) -> bool:
    """Tell whether the call tree of a version has room in the memory of a function."""
    return sum(stack.count(SEPARATOR) for stack in version.stacks) < _MOST_FRAMES


def _profiled(bucket: Bucket, side: _VersionProfiles, test: str) -> Iterator[ProfiledTrial]:
    for profile in profiles_of_trials(bucket, side.plan, side.trials, test):
        yield ProfiledTrial(read_stacks(bucket, profile), profile.seconds, profile.drawn)


def _command(base: _VersionProfiles, new: _VersionProfiles, test: str) -> str:
    of_run, suite = f" {new.plan.run_id}", ""
    if base.plan.run_id != new.plan.run_id:
        of_run, suite = "", f" --suite {new.plan.suite.name}"
    versions = f"{base.version} {new.version}{suite} --test {test}"
    return f"tidemark profile compare{of_run} {versions} --output FILE.html"


def write_functions_of_run(
    bucket: Bucket, plan: Plan, trials: Sequence[TrialResult]
) -> Iterator[Grown]:
    """Write the flame graphs of a run, and yield what grew in each version.

    Each is compared with the baseline, or else with the version before.
    """
    for version, base in plan.bases.items():
        sides = (_version_profiles(plan, each, trials) for each in (base, version))
        yield from _between(bucket, *sides)


def write_functions_between(
    bucket: Bucket, base: tuple[Plan, str], new: tuple[Plan, str]
) -> tuple[Grown, ...]:
    """Write the flame graphs of two versions of runs, and return what grew.

    There is nothing unless both runs have profiles.
    """
    if base[1] == new[1]:
        return ()
    sides = (
        _version_profiles(plan, version, each_profiled(bucket, plan))
        for plan, version in (base, new)
    )
    return tuple(_between(bucket, *sides))


def blocks(functions: Iterable[Grown]) -> Iterator[Block]:
    """Yield the sentences of each test, its flame graphs, and the command that says more."""
    for each in functions:
        yield f"{each.test}, {each.new} against {each.base}:"
        yield Bullets(each.sentences)
        if each.page:
            words = f"Flame graphs of {each.test} in {each.base} and in {each.new}"
            yield Link(words, PurePosixPath(each.page).name)
        yield f"All functions, and flame graphs: {each.command}"


def missing(plan: Plan, trials: Sequence[TrialResult]) -> Iterator[str]:
    """Yield a sentence for each profile that a run has not, and for each trial that it lacks."""
    for trial in trials:
        place = f"profile {place_of(trial.trial)} of {len(plan.profiled)} ({trial.version})"
        for test in trial.tests:
            reason = f" ({test.reason})" if test.reason else ""
            for note in test.artefact_notes:
                yield f"{place}, {test.test}: {note}{reason}"
    if lacking := len(plan.profiled) - len(trials):
        yield f"{lacking} of {len(plan.profiled)} profiled trials are not recorded."
