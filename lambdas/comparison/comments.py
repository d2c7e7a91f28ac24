"""What a machine finds in a comparison, each finding with its evidence, and what is to be done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lambdas.comparison.drift import drift
from lambdas.comparison.results import interval, lacking
from lambdas.comparison.setup import unlike
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
    return f"Metrics: {', '.join(said) or 'none'}."


def _judged(sides: Sides) -> list[_Judged]:
    return [
        _Judged(pair, pair.base, pair.new, verdict)
        for pair in sides.pairs()
        if pair.base and pair.new and (verdict := pair.verdict)
    ]


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
    yield from (f"They were not measured alike: {said}." for said in unlike(sides))
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
    judged = _judged(sides)
    for one in judged:
        change = one.verdict.change or 0
        if one.verdict.said == "slower":
            yield f"Find out why {one.pair.name} is {one.change}, or accept it with a reason."
        elif one.verdict.said == "faster" and abs(change) > SAME:
            yield f"Find out why {one.pair.name} is {one.change}: who meant it, or what went wrong."
    yield from _again(sides, judged)
    for pair, why in _lacking(sides):
        yield f"Find out why {pair.name} cannot be compared: {why}."
    if any(said.startswith("Machine: ") for said in unlike(sides)):
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


def _again(sides: Sides, judged: Sequence[_Judged]) -> Iterator[str]:
    """Yield what is to be measured again, and how, so that it can be told."""
    untold = [one for one in judged if one.verdict.said == "cannot tell"]
    versions = [sides.base.version, sides.new.version]
    if versions[0] == versions[1] or (sides.in_one_run and not untold):
        return
    needed = [one.verdict.trials for one in untold if one.verdict.trials]
    request = sides.new.run.plan.request
    repetitions = max([request.repetitions, *needed])
    for one in untold:
        if one.verdict.change is None:
            yield f"Find out why {one.pair.name} could not be told: {one.verdict.reason}."
        elif one.verdict.trials is None:
            yield (
                f"Measure {one.pair.name} with more records: tests this short scatter so much that "
                f"{MOST_REPETITIONS} repetitions would not tell."
            )
    if needed or not sides.in_one_run:
        # Of one trial nothing is known but that it shows no spread.
        scatter = any(one.verdict.trials and one.verdict.low is not None for one in untold)
        yield (
            f"Measure both in one run, of about {repetitions} repetitions"
            f"{f', which {TELLS}' if scatter else ''}: tidemark run "
            f"{sides.new.run.plan.suite.name} --versions {','.join(versions)} "
            f"--baseline {versions[0]} --repetitions {repetitions} --tasks {request.tasks} "
            f"--records {request.records}"
        )
