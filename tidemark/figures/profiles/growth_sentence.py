"""The change of a function in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.figures.profiles.folded_stacks import LEAST_SHARE, is_start
from tidemark.figures.profiles.growth import Comparison, FunctionChange, OneSided
from tidemark.figures.verdicts.welch import CONFIDENCE, FEWEST, TrialChange
from tidemark.model.numerals import bound, decimal, figure, signed
from tidemark.model.sentences import plural

_MOST_NAMES = 5
# Others are not compared, so that nothing is said of them.
_COMPARED = f"with {bound(LEAST_SHARE)} or more of the samples"
_SUBJECTS = {"self": "{} itself", "inclusive": "{} with all that it calls"}


def growth_sentences(
    found: Comparison, base: str, new: str, profiles: tuple[int, int]
) -> Iterator[str]:
    """Yield what the profiles of two versions tell, and which functions only one of them has.

    ``profiles`` are the numbers of profiles of both.
    """
    yield from told_sentences(found, base, new, profiles)
    yield from build_sentences(found, base, new)


def told_sentences(
    found: Comparison, base: str, new: str, profiles: tuple[int, int]
) -> Iterator[str]:
    """Yield which functions changed, functions of a program's start only if no other did."""
    changed = [each for each in found.changes if each.is_told]
    told = [each for each in changed if not is_start(each.function)] or changed
    if not told:
        of_base, of_new = profiles
        trials = f"{plural(of_base, 'profile')} of {base}, {of_new:,} of {new}"
        yield f"{_untold(found, profiles)}: {trials}."
    for each in told[:_MOST_NAMES]:
        yield growth_sentence(each)


def _untold(found: Comparison, profiles: tuple[int, int]) -> str:
    """Return why no change is told."""
    if min(profiles) < FEWEST:
        return (
            "The profiles cannot tell whether a function changed, which takes "
            f"{FEWEST} or more of each version"
        )
    if not found.changes:
        return f"The profiles have no function {_COMPARED} in common"
    return f"The profiles show no change of any function {_COMPARED} that both versions have"


def build_sentences(found: Comparison, base: str, new: str) -> Iterator[str]:
    """Yield how the builds differ: functions that only one has, and those that were renamed."""
    for version, functions in ((base, found.gone), (new, found.come)):
        if functions:
            yield f"Only the profiles of {version} have {_named(functions)}."
    if found.renamed:
        pairs = [f"{old} → {name}" for old, name in found.renamed.items()]
        yield f"Taken as renamed: {_first(pairs)}."


def _named(functions: Sequence[OneSided]) -> str:
    return _first(
        [f"{each.function} ({decimal(100 * each.own, 2)} % itself)" for each in functions]
    )


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def growth_sentence(found: FunctionChange) -> str:
    """Return a sentence such as ``Add itself grew from 1.46 % to 5.43 % of all samples (…).``."""
    subject = _SUBJECTS[found.kind].format(found.function)
    if found.seconds is None:
        return f"{subject} {found.word} {_of_samples(found.share)}."
    return f"{subject} {found.word} {_of_time(found.seconds)}."


def _of_samples(share: TrialChange) -> str:
    between = f"from {decimal(100 * share.base, 2)} % to {decimal(100 * share.new, 2)} %"
    points = f"{signed(100 * share.difference, 2)} points{_interval(share, 100, 2, ' points')}"
    return f"{between} of all samples ({points})"


def _of_time(seconds: TrialChange) -> str:
    between = f"from {figure(seconds.base)} to {figure(seconds.new)} s"
    of_records = f"{between} of CPU time per million records"
    if not seconds.base:
        return of_records
    scale = 100 / seconds.base
    change = f"{signed(scale * seconds.difference, 1)} %{_interval(seconds, scale, 1, ' %')}"
    return f"{of_records} ({change})"


def _interval(change: TrialChange, scale: float, places: int, unit: str) -> str:
    ends = interval(change, scale, places)
    return f", {bound(CONFIDENCE)} interval {ends}{unit}" if ends else ""


def interval(change: TrialChange, scale: float, places: int) -> str:
    """Return the interval of a difference, times ``scale``; '' where the trials do not tell it."""
    return " to ".join(signed(scale * end, places) for end in change.ends or ())
