"""The functions that take more or less CPU time in one version than in another."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import Literal, NamedTuple

from tidemark.figures.profiles.folded_stacks import (
    LEAST_SHARE,
    SEPARATOR,
    Stacks,
    merged,
    named,
    plain_name,
    renames,
    unnumbered,
)
from tidemark.figures.verdicts.intervals import holm
from tidemark.figures.verdicts.welch import TrialChange, TrialValues, change
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown

ALPHA = 0.05
"""The probability that any function of a comparison is said to have changed by chance."""
Kind = Literal["self", "inclusive"]
Word = Literal["grew", "shrank", "cannot tell"]
_TELLING = 7
"""With this number of expected samples, a function is not absent by chance: exp(-7) is 0.1 %."""
_LEAST_WEIGHT = 1000
"""The least weight of a sample: periods are thousands of cycles or of nanoseconds."""
_KINDS: Sequence[Kind] = ("self", "inclusive")
_Places = Mapping[str, Sequence[int]]
"""The places of stacks in a list, by function."""


class ProfiledTrial(NamedTuple):
    """The profile of one trial."""

    stacks: Stacks
    seconds: float | None = None
    """The CPU time per million records [s], None if it is not known."""
    drawn: int | None = None
    """The number of samples that were drawn, None if only their weights are known."""


class FunctionChange(NamedTuple):
    """The change of one function: of its own time, or of that with the functions that it calls."""

    function: str
    kind: Kind
    share: TrialChange
    """The change of the share in all samples, from 0 to 1."""
    seconds: TrialChange | None
    """The change of the CPU time per million records [s], None if some trial has none."""
    p_value: float
    """The p-value against no change, of the seconds if they are known, corrected for all functions
    of the comparison."""

    @property
    def is_told(self) -> bool:
        """Whether the trials tell that the function changed."""
        return self.p_value <= ALPHA

    @property
    def word(self) -> Word:
        """The verdict of the trials on the function."""
        if not self.is_told:
            return "cannot tell"
        return "grew" if self.judged.difference > 0 else "shrank"

    @property
    def judged(self) -> TrialChange:
        """The change that decides: of the seconds if they are known, or else of the share."""
        return self.seconds or self.share


class OneSided(NamedTuple):
    """A function that only the profiles of one version have, with its shares in them, 0 to 1."""

    function: str
    own: float
    inclusive: float


class Comparison(NamedTuple):
    """Two versions function by function."""

    changes: Sequence[FunctionChange]
    """The largest change first, with those that the trials tell before all others."""
    gone: Sequence[OneSided]
    come: Sequence[OneSided]
    renamed: Mapping[str, str]
    """The functions that were taken to be the same, old to new."""
    paired: Mapping[str, str]
    """The pair of each function that a pair names."""
    between: Sequence[Mapping[tuple[str, Kind], float]] = ()
    """The shares of functions, from 0 to 1, in each version between the two."""

    @property
    def told(self) -> dict[str, Word]:
        """The functions that the trials call grown or shrunk, by inclusive time.

        The new name of a renamed function stands for both.
        """
        told = (each for each in self.changes if each.is_told and each.kind == "inclusive")
        words = {each.function: each.word for each in told}
        of_pairs = {name: words[pair] for name, pair in self.paired.items() if pair in words}
        return {**words, **of_pairs}


class _Counts(NamedTuple):
    """The samples of a trial by function."""

    own: Counter[str]
    inclusive: Counter[str]
    total: int
    drawn: float
    """The number of samples that were drawn."""


class _Elided(NamedTuple):
    """A stack without the functions that are left out."""

    leaf: str
    """The function whose own time it is, '' if all are left out."""
    functions: Set[str]


def compare(
    base: Sequence[ProfiledTrial],
    new: Sequence[ProfiledTrial],
    pairs: Sequence[str] = (),
    between: Sequence[Sequence[ProfiledTrial]] = (),
) -> Comparison:
    """Return what changed between the trials of two versions, and the shares ``between`` them.

    Each of the ``pairs`` has names that are one function, such as ``Put / PutImpl``: a sample of
    several of them counts once.

    Builds of two versions inline differently: a function that only one of them has is left out of
    its stacks, so that its time is its caller's, and is listed apart. Few samples miss a rare
    function by chance, so that a function counts as absent only if chance does not explain it.
    """
    old, fresh = (plain_stacks(merged(each.stacks for each in side)) for side in (base, new))
    paired = _paired(_functions(old) | _functions(fresh), pairs)
    old, fresh = renamed_stacks(old, paired), renamed_stacks(fresh, paired)
    gone, come = _lacking(old, fresh, _drawn(new)), _lacking(fresh, old, _drawn(base))
    renamed = renames(old, fresh, gone, come)
    # Counts that share a divisor may be weights, or numbers of samples.
    rest = _lacking(old, fresh, _most(new)) - renamed.keys()
    others = _lacking(fresh, old, _most(base)) - {*renamed.values()}
    renamed |= _renumbered(renames(old, fresh, rest, others))
    gone, come = gone - renamed.keys(), come - set(renamed.values())
    names = {**paired, **renamed}
    changes = _changes(_counts(base, gone, names), _counts(new, come, paired), _seconds(base, new))
    shares = [_shares(_counts(each, gone | come, names)) for each in between]
    return Comparison(
        changes, _one_sided(old, gone), _one_sided(fresh, come), renamed, paired, shares
    )


def _renumbered(renamed: Mapping[str, str]) -> Mapping[str, str]:
    """Return the renamed functions whose names differ in numbers alone."""
    return {old: new for old, new in renamed.items() if unnumbered(old) == unnumbered(new)}


def _paired(functions: Set[str], pairs: Sequence[str]) -> Mapping[str, str]:
    """Return the pair of each function that a pair names.

    Raises
    ------
    Refused
        If no version has a function of a pair.

    """
    found: dict[str, str] = {}
    for pair in pairs:
        of_pair = list(filter(named(pair), functions))
        if not of_pair:
            raise Refused(f"--pairs: no version has a function of {shown(pair)}")
        found |= dict.fromkeys(of_pair, pair)
    return found


def _shares(trials: Sequence[_Counts]) -> Mapping[tuple[str, Kind], float]:
    """Return the shares of functions in all samples of some trials, from 0 to 1."""
    total = sum(each.total for each in trials)
    found: dict[tuple[str, Kind], float] = {}
    for kind in _KINDS:
        samples = sum((_samples(each, kind) for each in trials), Counter[str]())
        found |= {(name, kind): number / total for name, number in samples.items()}
    return found


def plain_stacks(stacks: Stacks) -> Stacks:
    """Return stacks with the plain names of functions."""
    found = Counter[str]()
    for stack, samples in stacks.items():
        found[SEPARATOR.join(map(plain_name, stack.split(SEPARATOR)))] += samples
    return found


def renamed_stacks(stacks: Stacks, names: Mapping[str, str]) -> Stacks:
    """Return stacks with other names of functions, by their names so far."""
    if not names:
        return stacks
    found = Counter[str]()
    for stack, samples in stacks.items():
        found[SEPARATOR.join(names.get(name, name) for name in stack.split(SEPARATOR))] += samples
    return found


def _functions(stacks: Stacks) -> set[str]:
    return {name for stack in stacks for name in stack.split(SEPARATOR)}


def _inclusive(stacks: Stacks, functions: Set[str]) -> Counter[str]:
    """Return the samples of some functions, each with the samples of all that it calls."""
    found = Counter[str]()
    if not functions:
        return found
    for stack, samples in stacks.items():
        for name in functions & set(stack.split(SEPARATOR)):
            found[name] += samples
    return found


def _drawn(trials: Sequence[ProfiledTrial]) -> float:
    """Return how many samples were drawn: a profiler may weigh each, such as by its period."""
    return sum(each.drawn or _unweighted(each.stacks) for each in trials)


def _most(trials: Sequence[ProfiledTrial]) -> float:
    """Return how many samples were drawn at most."""
    return sum(each.drawn or sum(each.stacks.values()) for each in trials)


def _unweighted(stacks: Stacks) -> float:
    """Return the number of samples if all have one weight.

    A small weight is none: the samples of a few stacks have a common divisor by chance.
    """
    weight = math.gcd(*stacks.values())
    return sum(stacks.values()) / (weight if weight >= _LEAST_WEIGHT else 1)


def _lacking(stacks: Stacks, other: Stacks, drawn: float) -> set[str]:
    """Return the functions that the ``drawn`` samples of the other do not lack by chance."""
    least = _TELLING * sum(stacks.values()) / drawn
    found = _inclusive(stacks, _functions(stacks) - _functions(other))
    return {name for name, samples in found.items() if samples >= least}


def _counts(
    trials: Sequence[ProfiledTrial], left_out: Set[str], renamed: Mapping[str, str]
) -> list[_Counts]:
    """Return the samples of each trial by function; most trials have the same stacks."""
    stacks = list(dict.fromkeys(chain.from_iterable(trial.stacks for trial in trials)))
    own, inclusive = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for place, stack in enumerate(stacks):
        leaf, names = _elided(stack, left_out, renamed)
        own[leaf].append(place)
        for name in names:
            inclusive[name].append(place)
    return [_of_trial(trial, stacks, own, inclusive) for trial in trials]


def _of_trial(
    trial: ProfiledTrial, stacks: Sequence[str], own: _Places, of_all: _Places
) -> _Counts:
    """Return the samples of a trial by function, from the places of each function's stacks."""
    samples = [trial.stacks.get(stack, 0) for stack in stacks]
    of_leaf, inclusive = (
        Counter({name: sum(map(samples.__getitem__, at)) for name, at in places.items()})
        for places in (own, of_all)
    )
    return _Counts(of_leaf, inclusive, sum(samples), _drawn([trial]))


def _elided(stack: str, left_out: Set[str], renamed: Mapping[str, str]) -> _Elided:
    names = list(map(plain_name, stack.split(SEPARATOR)))
    if left_out or renamed:
        names = [renamed.get(each, each) for each in names if each not in left_out]
    return _Elided(names[-1] if names else "", frozenset(names))


def _seconds(
    base: Sequence[ProfiledTrial], new: Sequence[ProfiledTrial]
) -> tuple[list[float], list[float]] | None:
    """Return the CPU time of each trial per million records [s], None unless all are known."""
    both = tuple(
        [each.seconds for each in side if each.seconds is not None] for side in (base, new)
    )
    return (both[0], both[1]) if (len(both[0]), len(both[1])) == (len(base), len(new)) else None


def _changes(
    base: Sequence[_Counts], new: Sequence[_Counts], seconds: tuple[list[float], list[float]] | None
) -> list[FunctionChange]:
    found = []
    for function in sorted(_compared(base, new)):
        for kind in _KINDS:
            sides = _side(base, function, kind), _side(new, function, kind)
            share = change(*sides)
            of_time = change(*map(_timed, sides, seconds)) if seconds else None
            p_value = (of_time or share).p_value
            found.append(FunctionChange(function, kind, share, of_time, p_value))
    adjusted = holm([each.p_value for each in found])
    told = [each._replace(p_value=p) for each, p in zip(found, adjusted, strict=True)]
    return sorted(told, key=_rank)


def _samples(counts: _Counts, kind: Kind) -> Counter[str]:
    return counts.own if kind == "self" else counts.inclusive


def _rank(found: FunctionChange) -> tuple[bool, bool, bool, float, str]:
    """Return the place of a change: its own time first, where the time is spent, and growths."""
    is_inclusive, difference = found.kind == "inclusive", found.judged.difference
    return not found.is_told, is_inclusive, difference < 0, -abs(difference), found.function


def _compared(base: Sequence[_Counts], new: Sequence[_Counts]) -> set[str]:
    """Return the functions with ``LEAST_SHARE`` in either version, whatever their change is."""
    found = set[str]()
    for side in (base, new):
        least = LEAST_SHARE * sum(each.total for each in side)
        inclusive = sum((each.inclusive for each in side), Counter[str]())
        found |= {name for name, samples in inclusive.items() if samples >= least}
    return found


def _side(trials: Sequence[_Counts], function: str, kind: Kind) -> TrialValues:
    counts = [_samples(each, kind) for each in trials]
    totals = [each.total for each in trials]
    mean = sum(each[function] for each in counts) / sum(totals)
    error = math.sqrt(mean * (1 - mean) / sum(each.drawn for each in trials))
    return TrialValues(
        [each[function] / total for each, total in zip(counts, totals, strict=True)], error
    )


def _timed(side: TrialValues, seconds: Sequence[float]) -> TrialValues:
    times = [share * each for share, each in zip(side.values, seconds, strict=True)]
    return TrialValues(times, side.least_error * sum(seconds) / len(seconds))


def _one_sided(stacks: Stacks, functions: Set[str]) -> list[OneSided]:
    own, total = Counter[str](), sum(stacks.values())
    for stack, samples in stacks.items():
        own[stack.rpartition(SEPARATOR)[2]] += samples
    found = [
        OneSided(name, own[name] / total, samples / total)
        for name, samples in _inclusive(stacks, functions).items()
        if samples >= LEAST_SHARE * total
    ]
    return sorted(found, key=lambda each: (-each.own, -each.inclusive, each.function))
