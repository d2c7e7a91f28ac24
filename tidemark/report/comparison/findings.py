"""The findings of a comparison with their evidence, and the actions that follow."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from tidemark.figures.verdicts.intervals import quantile
from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.model.numerals import NONE, change, decimal, figure, interval, percent, times_as
from tidemark.model.sentences import listed, plural, shortened
from tidemark.report import advice
from tidemark.report.blocks import Block, Bullets, Command
from tidemark.report.comparison.sides import Pair, Reading, Side, Sides, why_incomparable
from tidemark.report.marks import CHANGES, MOST_NAMES, first_names
from tidemark.report.rule import left_out, steadiness, within
from tidemark.report.run_report import trials
from tidemark.report.run_report.machines import differences, level_sentences, work_sentences
from tidemark.report.setup import differing_settings, unlike_work

# A greater spread of the trials, as a share of their mean, hides a change of that size.
_WIDE = 0.05
# The report of a run has every failure in full.
_MOST_TROUBLES = 5
_LONGEST_TROUBLE = 500  # bytes
# A suite with many labels has hundreds of findings; the table of results has all verdicts.
_MOST_SENTENCES = 8

_Key = TypeVar("_Key", bound=Hashable)
_Each = TypeVar("_Each")


class _JudgedMetric(NamedTuple):
    """A metric that both sides have, with the verdict on it."""

    pair: Pair
    base: Reading
    new: Reading
    verdict: Verdict

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.pair.name

    @property
    def word(self) -> str:
        """The word of the verdict."""
        return self.verdict.judgement.word

    @property
    def change(self) -> str:
        """The size and direction of the change, in words."""
        share, metric = self.pair.effect, self.pair.metric
        assert share is not None
        times = times_as(share, metric.direction, metric.unit)
        size = percent(abs(share), self.pair.places)
        return f"{self.word} ({times})" if times else f"{size} {self.word}"

    @property
    def evidence(self) -> str:
        """The figures behind the verdict."""
        before, after = self.base.text, self.new.text
        found = interval(self.verdict.judgement, self.pair.metric, self.pair.places)
        ends = "" if found == NONE else f"95 % interval {found}, "
        return f"{ends}{self._counts}; means {after} against {before} {self.pair.metric.unit}"

    @property
    def _counts(self) -> str:
        pairs, trials = self.verdict.judgement.pairs, (self.new.rate.trials, self.base.rate.trials)
        if pairs and trials == (pairs, pairs):
            told = left_out(self.verdict)
            return f"{plural(pairs, 'pair')} {told}".rstrip()
        each = f"{trials[0]} and {trials[1]} trials"
        if trials[0] == trials[1]:
            each = f"{plural(trials[0], 'trial')} each"
        return f"{plural(pairs, 'pair')} of {each}" if pairs else f"{each}, no pairs"


def comments(sides: Sides) -> tuple[Block, ...]:
    """Return the findings: what changed, what did not, and what is suspicious."""
    metrics = _judged_metrics(sides)
    machines = " on unlike machines" if sides.unlike_machines else ""
    groups = {
        "Changes:": list(_changes(metrics, sides.new.name, machines)),
        "Steadiness:": list(steadiness((metric.verdict for metric in metrics), machines)),
        "The same:": list(_same(metrics, machines)),
        "Undecided:": [*_undecided(metrics), *_not_comparable(sides)],
        "Suspicious:": list(_suspicious(sides)),
    }
    blocks: list[Block] = []
    for heading, sentences in groups.items():
        blocks += [heading, Bullets(_first(sentences))] if sentences else []
    return (*blocks,) or ("There is no metric to compare.",)


def _changes(metrics: Sequence[_JudgedMetric], new: str, machines: str) -> Iterator[str]:
    for changed in _changed(metrics):
        shown = changed[: 1 if len(changed) > MOST_NAMES else MOST_NAMES]
        for metric in shown:
            text = f"{metric.name} is {metric.change} with {new}{machines}, {metric.evidence}."
            more = len(changed) - len(shown)
            of_metric = f" {plural(more, 'more change')} of {metric.pair.metric.name}."
            yield text + (of_metric if more else "")


def _changed(metrics: Sequence[_JudgedMetric]) -> Iterable[list[_JudgedMetric]]:
    """Return the changes in one direction of each metric, the largest first."""
    changed = (metric for metric in metrics if metric.word in CHANGES)
    by_size = sorted(changed, key=lambda each: -abs(each.pair.effect or 0))
    return _grouped(by_size, lambda each: (each.word, each.pair.metric.name)).values()


def _same(metrics: Sequence[_JudgedMetric], machines: str) -> Iterator[str]:
    same = (metric for metric in metrics if metric.word == "same")
    for margin, of_margin in _grouped(same, lambda each: within(each.new.metric)).items():
        told = f"the same within {margin}{machines}"
        if len(of_margin) > MOST_NAMES:
            largest = max(of_margin, key=lambda each: abs(each.pair.effect or 0))
            size = change(largest.pair.effect, largest.pair.metric, largest.pair.places)
            yield f"{_count(of_margin)} are {told}, at most {size} ({largest.name})."
        else:
            yield from (f"{metric.name} is {told}, {metric.evidence}." for metric in of_margin)


def _undecided(metrics: Sequence[_JudgedMetric]) -> Iterator[str]:
    """Yield why metrics have no verdict; many metrics with one reason are only counted."""
    untold = (metric for metric in metrics if metric.word == "cannot tell")
    for reason, of_reason in _grouped(untold, _reason).items():
        if len(of_reason) > MOST_NAMES:
            yield f"{_count(of_reason)}: {reason} ({_names(of_reason)})."
        else:
            yield from (_no_verdict(metric, reason) for metric in of_reason)


def _no_verdict(metric: _JudgedMetric, reason: str) -> str:
    if metric.pair.effect is None:
        return f"{metric.name}: {reason}."
    found = change(metric.pair.effect, metric.pair.metric, metric.pair.places)
    return f"{metric.name}: {reason}. Δ {found}, {metric.evidence}."


def _count(named: Sequence[_JudgedMetric | Pair]) -> str:
    return plural(len(named), "metric")


def _reason(metric: _JudgedMetric) -> str:
    return metric.verdict.judgement.reason


def _not_comparable(sides: Sides) -> Iterator[str]:
    for why, pairs in _incomparable(sides).items():
        if len(pairs) > MOST_NAMES:
            yield f"{_count(pairs)} cannot be compared: {why} ({_names(pairs)})."
        else:
            yield from (f"{pair.name} cannot be compared: {why}." for pair in pairs)


def _grouped(each: Iterable[_Each], key: Callable[[_Each], _Key]) -> dict[_Key, list[_Each]]:
    """Return members by their key, in the order in which keys come first."""
    groups: dict[_Key, list[_Each]] = {}
    for one in each:
        groups.setdefault(key(one), []).append(one)
    return groups


def _names(named: Sequence[_JudgedMetric | Pair]) -> str:
    return first_names([each.name for each in named])


def action_items(sides: Sides) -> Iterator[Bullets]:
    """Yield the actions that follow from the findings, beside the next measurement."""
    if actions := tuple(_actions(sides)):
        yield Bullets(actions)


def _first(sentences: Sequence[str]) -> tuple[str, ...]:
    """Return the first sentences, and how many more there are."""
    more = [f"And {count:,} more."] if (count := len(sentences) - _MOST_SENTENCES) > 0 else []
    return (*sentences[:_MOST_SENTENCES], *more)


def _judged_metrics(sides: Sides) -> list[_JudgedMetric]:
    return [
        _JudgedMetric(pair, pair.base, pair.new, verdict)
        for pair in sides.pairs
        if pair.base and pair.new and (verdict := pair.verdict)
    ]


def _incomparable(sides: Sides) -> dict[str, list[Pair]]:
    """Return the metrics that cannot be compared, by the reason."""
    why = _grouped(sides.pairs, lambda pair: why_incomparable(pair, sides))
    return {reason: pairs for reason, pairs in why.items() if reason}


def _is_unpublished(pair: Pair, sides: Sides) -> bool:
    """Tell whether a page lacks a metric, which nobody here can find the reason of."""
    return any(reading is None and side.run.plan.imported for reading, side in sides.readings(pair))


def _suspicious(sides: Sides) -> Iterator[str]:
    if not sides.in_one_run:
        yield (
            f"The two sides were measured in different runs, {sides.base.run.plan.run_id} and "
            f"{sides.new.run.plan.run_id}, not in turns: differences between the runs look like "
            "differences between the versions."
        )
    for side in _published(sides):
        yield (
            f"{side.name} has published figures: their machines and the amount of work are not "
            "known."
        )
    for difference in differing_settings(sides).values():
        yield f"The two sides were not measured alike: {difference}."
    for side in sides.both:
        yield from (f"{side.name}: {text}" for text in differences(side.run.counting()))
        yield from level_sentences(side.run, side.version, side.name)
        yield from work_sentences(side.run, side.version, side.name)
        yield from _troubles(side)
        yield from _thin(side)
    yield from _scattered(sides)
    yield from drift(sides)


def _scattered(sides: Sides) -> Iterator[str]:
    """Yield the metrics whose trials scatter widely; many of a side are one sentence."""
    wide: list[tuple[str, float, Pair, Reading]] = []
    for pair in sides.pairs:
        for reading, side in sides.readings(pair):
            if reading and reading.rate.spread and reading.rate.value:
                share = reading.rate.spread / abs(reading.rate.value)
                if share > _WIDE:
                    wide.append((side.name, share, pair, reading))
    for name, of_side in _grouped(wide, lambda each: each[0]).items():
        if len(of_side) > MOST_NAMES:
            widest = sorted(of_side, key=lambda each: -each[1])
            each = first_names([f"{percent(share)} in {pair.name}" for _, share, pair, _ in widest])
            yield (
                f"The trials of {name} scatter widely in {plural(len(of_side), 'metric')}, as "
                f"shares of their mean: {each}."
            )
            continue
        for _, share, pair, reading in of_side:
            values = ", ".join(figure(value) for value in sorted(reading.values))
            yield (
                f"The trials of {name} scatter by {percent(share)} of their mean in "
                f"{pair.name}: {values} {reading.metric.unit}."
            )


def _published(sides: Sides) -> list[Side]:
    """Return the sides whose figures nobody measured here."""
    return [side for side in sides.both if side.run.plan.imported]


def _troubles(side: Side) -> Iterator[str]:
    """Yield which trials failed or are left out: the first few, one line each."""
    troubles, run_id = trials.troubles(side.run), side.run.plan.run_id
    items = troubles.items if troubles else ()
    for item in items[:_MOST_TROUBLES]:
        yield shortened(f"{run_id}: {item}.", _LONGEST_TROUBLE)
    if len(items) > _MOST_TROUBLES:
        yield f"{run_id}: {len(items) - _MOST_TROUBLES} more are in its report."


def _thin(side: Side) -> Iterator[str]:
    """Yield a sentence that names the metrics without a spread, because only one trial counts."""
    single = [
        quantity.name
        for quantity in side.run.quantities
        if (reading := side.reading(quantity)) and len(reading.values) == 1
    ]
    if single:
        yield f"{side.name} has no spread of {listed(single)}: only one trial counts."


def _actions(sides: Sides) -> Iterator[str]:
    how = " (measured unlike)" if unlike_work(sides) else ""
    metrics = _judged_metrics(sides)
    changes = [metric for changed in _changed(metrics) for metric in changed[:MOST_NAMES]]
    changes.sort(key=lambda metric: metric.word != "slower")
    yield from _first([text for metric in changes for text in _reasons(metric, how)])
    untold = (metric for metric in metrics if metric.word == "cannot tell")
    without = (metric for metric in untold if metric.verdict.judgement.method == "none")
    for reason, of_reason in _grouped(without, _reason).items():
        yield f"Find out why there is no verdict on {_names(of_reason)}: {reason}."
    for side in sides.both:
        failed = [
            trial.trial
            for trial in side.run.trials
            if trial.status == "failed" and not side.run.is_excluded(trial)
        ]
        if failed:
            yield (
                f"Look into the logs of the failed trials of run {side.run.plan.run_id}: "
                f"{listed(failed)}."
            )
    for why, pairs in _incomparable(sides).items():
        if known := [pair for pair in pairs if not _is_unpublished(pair, sides)]:
            yield f"Find out why {_names(known)} cannot be compared: {why}."
    if sides.unlike_machines:
        yield "Measure both on machines of one kind."


def _reasons(metric: _JudgedMetric, how: str) -> Iterator[str]:
    """Yield the action for a change that matters, or for a metric that cannot have a verdict."""
    verdict, word = metric.verdict, metric.word
    changed = f"Find out why {metric.name} is {metric.change}{how}" if metric.pair.effect else ""
    if word == "slower":
        yield f"{changed}, or accept it with a reason."
    elif word == "faster" and abs(metric.pair.effect or 0) > verdict.margins.same:
        yield f"{changed}: it may be intended, or something went wrong."


def next_step(sides: Sides) -> str | Command:
    """Return what to measure again, and how, to get a verdict, or else the first action."""
    return _measurement(sides) or next(_actions(sides), "Nothing is left to measure.")


def _measurement(sides: Sides) -> str | Command:
    """Return what to measure again, and how, to get a verdict; '' for nothing."""
    judged, is_unlike = _judged_metrics(sides), bool(unlike_work(sides))
    # A metric that decides nothing, such as the upload of files, is worth no further hour.
    metrics = [each for each in judged if each.pair.metric.decides] or judged
    if _published(sides):
        return "Measure both in one run: a verdict needs pairs of trials, which no page publishes."
    if sides.new.run.plan.suite.subject.instance:
        return (
            "Judge the change by its interval: a verdict needs pairs of trials in one run, and an "
            "instance has one version at a time."
        )
    is_open = any(advice.is_open(metric.verdict) for metric in metrics)
    versions = [advice.requested(side.run.plan, side.version) for side in sides.both]
    versions = list(dict.fromkeys(versions))
    base, new = (side.run.plan.request for side in sides.both)
    basis = advice.Basis(sides.whole.plan, sides.whole.trials)
    verdicts = [metric.verdict for metric in metrics]
    unconfirmed = list(filter(advice.is_unconfirmed, verdicts))
    if sides.in_one_run and unconfirmed and not (is_unlike or new.slowed):
        return advice.confirming(basis, new, {versions[0]: versions[1:]}, unconfirmed)
    if not is_unlike and (len(versions) == 1 or (sides.in_one_run and not is_open)):
        return ""
    how = "both in one run"
    if is_unlike:
        how = "both alike, in one run"
    elif sides.in_one_run:
        how = "both again"
    if len(versions) == 1:
        how = f"{sides.base.version} again, as run {sides.base.run.plan.run_id} did"
    return advice.again(
        how,
        basis,
        base.model_copy(update={"repetitions": max(base.repetitions, new.repetitions)}),
        versions,
        # The scatter of sides that were not measured alike says little about the length of tests.
        [each for each in verdicts if not (is_unlike and advice.is_hopeless(each))],
        baseline=versions[0] if len(versions) > 1 else "",
    )


# Fewer points often lie on a straight line by chance.
_FEWEST = 5
# A smaller drift neither hides nor feigns a change that matters.
_SLIGHT = 0.01

Points = list[tuple[int, float]]


def drift(sides: Sides) -> Iterator[str]:
    """Yield a sentence for each metric that drifts over the trials of a run.

    A metric drifts if its trials, each as a share of its version's mean, correlate with their
    order (Pearson, two-sided 95 %) and move by 1 % or more. Both versions of one run are tested
    together, because they took turns.
    """
    for pair in sides.pairs:
        each = [
            ([_shares(reading)], f"the trials of {side.name}")
            for reading, side in sides.readings(pair)
            if reading
        ]
        if sides.in_one_run and len(each) == 2:
            each = [(each[0][0] + each[1][0], "the trials of both")]
        for versions, label in each:
            if trend := _trend(versions):
                yield f"{pair.name} {trend} over {label}, in the order in which they ran."


def _shares(reading: Reading) -> Points:
    mean = reading.rate.value
    if not mean:
        return []
    return [
        (measurement.trial.trial, measurement.counted / mean)
        for measurement in reading.measurements
        if measurement.counted is not None
    ]


def _trend(versions: Sequence[Points]) -> str:
    """Return the rise or fall of the points in words, '' if it is small or may be chance.

    The ends are the ends of the straight line through the points (least squares).
    """
    points = sorted(point for version in versions for point in version)
    shares = [share for _, share in points]
    if len(points) < _FEWEST or min(shares) == max(shares):
        return ""
    order = [trial for trial, _ in points]
    r = statistics.correlation(order, shares)
    # Each version's mean takes a degree of freedom, and the slope takes another.
    freedom = len(points) - 1 - sum(map(bool, versions))
    if abs(r) < 1 and abs(r) * math.sqrt(freedom / (1 - r * r)) <= quantile(0.05, freedom):
        return ""
    slope, intercept = statistics.linear_regression(order, shares)
    start, end = (intercept + slope * trial for trial in (order[0], order[-1]))
    if abs(end - start) < _SLIGHT:
        return ""
    moves = "rises" if end > start else "falls"
    return f"{moves} from {percent(start)} to {percent(end)} of its mean (r = {decimal(r, 2)})"
