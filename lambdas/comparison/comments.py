"""What a machine finds in a comparison, each finding with its evidence, and what is to be done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lambdas.comparison.drift import drift
from lambdas.comparison.results import interval, lacking
from lambdas.comparison.setup import of_unlike_size, on_unlike_machines, unlike
from lambdas.comparison.sides import Pair, Reading, Side, Sides
from lambdas.failure import shortened
from lambdas.report import trials
from lambdas.report.blocks import Block, Bullets
from lambdas.report.figures import figure, percent
from lambdas.report.machines import differences
from lambdas.verdict import SAME, TELLS, WITHIN, Verdict
from suites.model import MOST_REPETITIONS
from suites.refusal import listed

# Trials that scatter more than this share of their mean hide a change of that size.
_WIDE = 0.05
# Where even the most repetitions would not tell, so many times the records.
_LONGER = 10
# The report of a run has all that went wrong, and in full.
_MOST_TROUBLES = 5
_LONGEST_TROUBLE = 500  # bytes


@dataclass(frozen=True)
class _Judged:
    """A metric that both sides have, and what its trials tell."""

    pair: Pair
    base: Reading
    new: Reading
    verdict: Verdict

    @property
    def change(self) -> str:
        """By how much it changed and which way."""
        assert self.verdict.change is not None
        return f"{percent(abs(self.verdict.change))} {self.verdict.said}"

    @property
    def evidence(self) -> str:
        """The figures behind the verdict."""
        before, after = self.base.rate, self.new.rate
        return (
            f"{figure(after.value)} against {figure(before.value)} {self.pair.metric.unit}, "
            f"interval of the change {interval(self.verdict)}, "
            f"{after.trials} and {before.trials} trials"
        )


def comments(sides: Sides) -> tuple[Block, ...]:
    """Return what was found: what changed, what did not, and what is suspicious."""
    judged = _judged(sides)
    groups = {
        "What changed:": [
            f"{one.pair.name} is {one.change} with {sides.new.name}: {one.evidence}."
            for one in judged
            if one.verdict.said in {"faster", "slower"}
        ],
        "What did not change:": [
            f"{one.pair.name} is the same within {WITHIN}: {one.evidence}."
            for one in judged
            if one.verdict.said == "same"
        ],
        "What cannot be told:": [
            *(_untold(one) for one in judged if one.verdict.said == "cannot tell"),
            *(f"{pair.name} cannot be compared: {why}." for pair, why in _lacking(sides)),
        ],
        "What is suspicious:": list(_suspicious(sides)),
    }
    blocks: list[Block] = []
    for heading, found in groups.items():
        blocks += [heading, Bullets(tuple(found))] if found else []
    return (*blocks,) or ("There is no metric to compare.",)


def action_items(sides: Sides) -> Bullets:
    """Return what somebody is to do about it."""
    return Bullets(tuple(_actions(sides)) or ("No action items.",))


def in_short(sides: Sides) -> str:
    """Return how many metrics got which verdict, and which."""
    found: dict[str, list[str]] = {}
    for one in _judged(sides):
        found.setdefault(one.verdict.said, []).append(one.pair.name)
    for pair, _ in _lacking(sides):
        found.setdefault("not comparable", []).append(pair.name)
    said = [f"{len(names)} {word} ({listed(names)})" for word, names in found.items()]
    metrics = f"Metrics: {', '.join(said) or 'none'}."
    return f"{metrics} They were not measured alike." if _unlike_work(sides) else metrics


def _judged(sides: Sides) -> list[_Judged]:
    return [
        _Judged(pair, pair.base, pair.new, verdict)
        for pair in sides.pairs()
        if pair.base and pair.new and (verdict := pair.verdict)
    ]


def _unlike_work(sides: Sides) -> bool:
    """Tell whether both did different work, or on different machines: that alone changes rates."""
    return of_unlike_size(sides) or on_unlike_machines(sides)


def _lacking(sides: Sides) -> list[tuple[Pair, str]]:
    return [(pair, why) for pair in sides.pairs() if (why := lacking(pair, sides))]


def _untold(one: _Judged) -> str:
    change = one.verdict.change
    if change is None:
        return f"{one.pair.name}: {one.verdict.reason}."
    return (
        f"{one.pair.name} changed by {percent(change)}, and whether that is the version "
        f"cannot be told: {one.verdict.reason}; {one.evidence}."
    )


def _suspicious(sides: Sides) -> Iterator[str]:
    if not sides.in_one_run:
        yield (
            f"They were measured in different runs, {sides.base.run.plan.run_id} and "
            f"{sides.new.run.plan.run_id}, not in turns: what differs between the runs is not told "
            "from what differs between the versions."
        )
    yield from (f"They were not measured alike: {said}." for said in unlike(sides).values())
    for side in sides.both:
        yield from (f"{side.name}: {said}" for said in differences(side.run.counting()))
        yield from _troubles(side)
        yield from _thin(side)
    for pair in sides.pairs():
        for reading, side in sides.readings(pair):
            if reading and reading.rate.spread and reading.rate.value:
                share = reading.rate.spread / reading.rate.value
                if share > _WIDE:
                    values = ", ".join(figure(value) for value in sorted(reading.values))
                    yield (
                        f"The trials of {side.name} scatter by {percent(share)} of their mean in "
                        f"{pair.name}: {values} {reading.metric.unit}."
                    )
    yield from drift(sides)


def _troubles(side: Side) -> Iterator[str]:
    """Yield what failed or is left out: a few trials of many, and of each what fits a line."""
    found, run_id = trials.troubles(side.run), side.run.plan.run_id
    items = found.items if found else ()
    for said in items[:_MOST_TROUBLES]:
        yield shortened(f"{run_id}: {said}.", _LONGEST_TROUBLE)
    if len(items) > _MOST_TROUBLES:
        yield f"{run_id}: and {len(items) - _MOST_TROUBLES} more, which its report names."


def _thin(side: Side) -> Iterator[str]:
    """Yield that metrics have one trial only, for which there is no spread."""
    alone = [
        metric.name
        for test in side.tests
        for metric in test.metrics
        if (reading := side.reading(test.name, metric.name)) and len(reading.values) == 1
    ]
    if alone:
        yield f"{side.name} has one trial that counts of {listed(alone)}, and so no spread."


def _actions(sides: Sides) -> Iterator[str]:
    judged, is_unlike = _judged(sides), _unlike_work(sides)
    again = _again(sides, judged, is_unlike)
    if again and is_unlike:
        yield again
    for one in judged:
        yield from _reasons(one, " (measured unlike)" if is_unlike else "")
    if again and not is_unlike:
        yield again
    for pair, why in _lacking(sides):
        yield f"Find out why {pair.name} cannot be compared: {why}."
    if on_unlike_machines(sides):
        yield "Measure both on machines of one kind."
    for side in sides.both:
        failed = [
            trial.trial
            for trial in side.run.trials
            if trial.status == "failed" and not side.run.is_excluded(trial)
        ]
        if failed:
            yield (
                f"Look into the logs of what failed: trials {listed(failed)} of run "
                f"{side.run.plan.run_id}."
            )


def _reasons(one: _Judged, how: str) -> Iterator[str]:
    """Yield whose reason is to be found: a change that matters, or that nothing can be told."""
    changed = f"Find out why {one.pair.name} is {one.change}{how}" if one.verdict.change else ""
    if one.verdict.said == "slower":
        yield f"{changed}, or accept it with a reason."
    elif one.verdict.said == "faster" and abs(one.verdict.change or 0) > SAME:
        yield f"{changed}: who meant it, or what went wrong."
    elif one.verdict.said == "cannot tell" and one.verdict.low is None and not one.verdict.trials:
        yield f"Find out why {one.pair.name} could not be told: {one.verdict.reason}."


def _again(sides: Sides, judged: Sequence[_Judged], is_unlike: bool) -> str:
    """Return what is to be measured again, and how, so that it can be told; '' for nothing."""
    untold = [one.verdict for one in judged if one.verdict.trials or _is_short(one.verdict)]
    versions = list(dict.fromkeys(side.version for side in sides.both))
    if not is_unlike and (len(versions) == 1 or (sides.in_one_run and not untold)):
        return ""
    base, new = (side.run.plan.request for side in sides.both)
    needed = [one.trials for one in untold if one.trials]
    repetitions = max(base.repetitions, new.repetitions, *needed)
    # How what was not measured alike scatters tells little of how long tests must be.
    short = [] if is_unlike else [one.pair.name for one in judged if _is_short(one.verdict)]
    suite, records = sides.new.run.plan.suite, base.records
    why = ""
    if short:
        records = min(_LONGER * base.records, suite.task.most_records)
        why = (
            f" and {records:,} records, for {MOST_REPETITIONS} repetitions of tests as short as "
            f"these would not tell {listed(short)}"
        )
    # Of one trial nothing is known but that it shows no spread.
    elif any(one.trials and one.low is not None for one in untold):
        why = f", which {TELLS}"
    how = "both alike, in one run" if is_unlike else "both in one run"
    if len(versions) == 1:
        how = f"both alike: {versions[0]} again as run {sides.base.run.plan.run_id} did"
    baseline = f"--baseline {versions[0]} " if len(versions) > 1 else ""
    return (
        f"Measure {how}, of about {repetitions} repetitions{why}: tidemark run {suite.name} "
        f"--versions {','.join(versions)} {baseline}--repetitions {repetitions} "
        f"--tasks {base.tasks} --records {records}"
    )


def _is_short(one: Verdict) -> bool:
    """Tell whether its trials scatter so much that as many as a run may have would not tell."""
    return one.said == "cannot tell" and one.low is not None and one.trials is None
