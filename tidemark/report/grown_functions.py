"""The functions that grew or shrank between the profiled trials of two versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tidemark.figures.profiles.growth import ProfiledTrial, compare
from tidemark.figures.profiles.growth_sentence import growth_sentences
from tidemark.model.plan import Plan
from tidemark.model.results import TrialResult
from tidemark.model.trial_numbers import place_of
from tidemark.model.version_order import version_order
from tidemark.report.blocks import Block, Bullets
from tidemark.store.bucket import Bucket
from tidemark.store.profiles.stored_profile import profiles_of_trials, read_stacks
from tidemark.store.run_objects import each_profiled


class VersionProfiles(NamedTuple):
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


def version_profiles(plan: Plan, version: str, trials: Iterable[TrialResult]) -> VersionProfiles:
    """Return the profiled trials of a version."""
    return VersionProfiles(plan, version, [each for each in trials if each.version == version])


def grown(bucket: Bucket, base: VersionProfiles, new: VersionProfiles) -> Iterator[Grown]:
    """Yield what grew in each test of which both versions have profiles."""
    names = base.version, new.version
    for test in (test.name for test in new.plan.suite.tests):
        sides = [list(_profiled(bucket, side, test)) for side in (base, new)]
        if all(sides):
            numbers = len(sides[0]), len(sides[1])
            sentences = growth_sentences(compare(*sides), *names, numbers)
            yield Grown(test, *names, tuple(sentences), _command(base, new, test))


def _profiled(bucket: Bucket, side: VersionProfiles, test: str) -> Iterator[ProfiledTrial]:
    for profile in profiles_of_trials(bucket, side.plan, side.trials, test):
        yield ProfiledTrial(read_stacks(bucket, profile), profile.seconds)


def _command(base: VersionProfiles, new: VersionProfiles, test: str) -> str:
    of_run, suite = f" {new.plan.run_id}", ""
    if base.plan.run_id != new.plan.run_id:
        of_run, suite = "", f" --suite {new.plan.suite.name}"
    versions = f"{base.version} {new.version}{suite} --test {test}"
    return f"tidemark profile compare{of_run} {versions} --output FILE.html"


def grown_in_run(bucket: Bucket, plan: Plan, trials: Sequence[TrialResult]) -> Iterator[Grown]:
    """Yield what grew in each version since the baseline, or else since the version before."""
    ordered = sorted(plan.request.versions, key=version_order)
    before = dict(zip(ordered[1:], ordered, strict=False))
    for version in ordered:
        base = plan.request.baseline or before.get(version)
        if base not in {None, version}:
            sides = (version_profiles(plan, each, trials) for each in (str(base), version))
            yield from grown(bucket, *sides)


def grown_between(
    bucket: Bucket, base: tuple[Plan, str], new: tuple[Plan, str]
) -> tuple[Grown, ...]:
    """Return what grew between two versions of runs; nothing unless both runs have profiles."""
    if base[1] == new[1]:
        return ()
    sides = (
        version_profiles(plan, version, each_profiled(bucket, plan))
        for plan, version in (base, new)
    )
    return tuple(grown(bucket, *sides))


def blocks(functions: Iterable[Grown]) -> Iterator[Block]:
    """Yield the sentences of each test, and the command that says more."""
    for each in functions:
        yield f"{each.test}, {each.new} against {each.base}:"
        yield Bullets(each.sentences)
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
