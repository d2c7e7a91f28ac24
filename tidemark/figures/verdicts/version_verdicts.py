"""The verdicts on the versions of a run, quantity by quantity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, Protocol

from tidemark.figures.spread import SpreadChange, spread_change
from tidemark.figures.verdicts.intervals import MIXTURE_T, PAIRED_T, Method, equally, holm
from tidemark.figures.verdicts.pairs import Pairs, differences, in_round
from tidemark.figures.verdicts.power import detectable, missing
from tidemark.figures.verdicts.rule import Criteria, Judgement, Margins, judge_by
from tidemark.figures.verdicts.sequential_metric import (
    TOO_SHORT,
    SequentialMetric,
    Stage,
    unconfirmed,
)
from tidemark.figures.verdicts.sequential_run import (
    SequentialRun,
    closed,
    criteria,
    judged,
    nearer_to,
    standing_of,
)
from tidemark.figures.version_rates import (
    Key,
    Quantity,
    change,
    mean,
    measured_rates,
    quantities,
)
from tidemark.model.plan import Plan, Resume
from tidemark.model.results import Exclusions, Rate, TrialResult

Rates = Mapping[int, float]
"""The rates of the trials that count, by repetition."""
_WITHOUT_LOGARITHM = Judgement(
    word="cannot tell",
    reason="a rate is zero or below",
    method="none",
    effect=None,
    low=None,
    high=None,
    pairs=0,
)


class Verdict(NamedTuple):
    """The verdict on one quantity of a version against a base."""

    quantity: Quantity
    base: str
    version: str
    judgement: Judgement
    change: float | None
    """(new - base) / base of the means of all trials that count; None if one is missing or zero."""
    trials_base: int
    trials_new: int
    margins: Margins
    family: int
    """The number of quantities and versions that share the alarms by chance."""
    detectable: float | None = None
    """The change that as many pairs find in four cases of five; None for fewer than five pairs."""
    more_pairs: int | None = None
    """The pairs still needed for a verdict; None if there is one, or if a run may not have them."""
    stage: Stage = "first"
    first: Judgement | None = None
    """The judgement that new pairs had to confirm, None if there was none."""
    outliers: tuple[int, ...] = ()
    """The repetitions whose pair lies so far from all others that it is left out."""
    odd: int | None = None
    """The repetition whose pair most of the scatter is of, if that leaves a verdict open."""
    nearer: str = ""
    """The end of a search that the version is nearer to, which is not a verdict; '' for none."""
    spread: SpreadChange | None = None
    """The change of the trials' spread, None if it is small or not certain."""


class _Series(NamedTuple):
    """The rates of one quantity of both versions."""

    quantity: Quantity
    base: Rates
    new: Rates
    beside: Rates
    """Rates that differ from the base's by the d of a repetition. They are the new version's own,
    unless the repetition is a round."""

    @classmethod
    def of(
        cls, quantity: Quantity, before: Mapping[int, Rate], after: Mapping[int, Rate]
    ) -> _Series:
        """Return the series of the rates of both versions, by repetition."""
        return cls(quantity, _values(before), _values(after), _beside(before, after))

    @property
    def is_zero(self) -> bool:
        """Whether every figure is zero, such as a number of failures: then nothing changed.

        A throughput of zero says that nothing was measured.
        """
        is_amount = self.quantity.metric.direction == "lower"
        return is_amount and not any([*self.base.values(), *self.new.values()])

    @property
    def has_pairs(self) -> bool:
        """Whether each repetition of both versions is a pair."""
        return self.is_zero or min([*self.base.values(), *self.new.values()], default=1) > 0

    @property
    def differences(self) -> Mapping[int, float]:
        """Each d by its repetition, none if a rate has no logarithm; zeros do not differ."""
        if self.is_zero:
            return dict.fromkeys(sorted(self.base.keys() & self.new.keys()), 0.0)
        return differences(self.base, self.beside) if self.has_pairs else {}

    @property
    def pairs(self) -> Pairs:
        """The pairs in the order of repetitions."""
        return Pairs.of(self.differences.values())

    def repetitions(self, places: Iterable[int]) -> tuple[int, ...]:
        """Return the repetitions of the pairs at some places."""
        found = list(self.differences)
        return tuple(found[place] for place in places)

    def odd(self, pairs: Pairs, judgement: Judgement, before: int = 0) -> int | None:
        """Return the repetition that most of the scatter of undecided pairs is of, if any is.

        The pairs are those after the first ``before``.
        """
        odd = pairs.odd if judgement.word == "cannot tell" else None
        return None if odd is None else self.repetitions([before + odd])[0]

    def criteria(self, method: Method, family: int) -> Criteria:
        """Return the criteria of a quantity that shares the alarms with a family."""
        metric = self.quantity.metric
        return Criteria(metric.direction, method, Margins.of(metric), 1 / family)


def rates_beside(
    trials: Sequence[TrialResult], exclusions: Exclusions, key: Key, base: str, version: str
) -> tuple[Rates, Rates]:
    """Return the rates of a base, and those that differ from them as a version does."""
    before, after = (_rates(trials, exclusions, each)[key] for each in (base, version))
    return _values(before), _beside(before, after)


def _beside(before: Mapping[int, Rate], after: Mapping[int, Rate]) -> Rates:
    base, new = _values(before), _values(after)
    return {
        each: in_round(base[each], new[each], (before[each].slices, after[each].slices))
        for each in base.keys() & new.keys()
    }


def version_pairs(plan: Plan) -> list[tuple[str, str]]:
    """Return the bases and versions of a run: each older and newer one, the baseline and others."""
    of_baseline = [(plan.request.baseline or "", version) for version in plan.compared]
    return list(dict.fromkeys([*of_baseline, *combinations(plan.ascending, 2)]))


class JudgedRun(Protocol):
    """The stored contents of a run that its verdicts follow from."""

    @property
    def plan(self) -> Plan:
        """The plan."""

    @property
    def trials(self) -> Sequence[TrialResult]:
        """The recorded trials, in order."""

    @property
    def exclusions(self) -> Exclusions:
        """The trials that do not count."""

    @property
    def resumes(self) -> Sequence[Resume]:
        """The executions that resumed it."""


def verdicts(run: JudgedRun, base: str, version: str) -> Iterator[Verdict]:
    """Yield the verdict on each quantity of a version against a base that the same run measured.

    A lost, failed or excluded trial drops its pair. Somebody saw the first pairs of a resumed
    run, so the method that allows looks judges them. Quantities that decide nothing are a family
    of their own. The others of a run until decided have courses of their own.
    """
    plan, trials, exclusions = run.plan, run.trials, run.exclusions
    before, after = (_rates(trials, exclusions, each) for each in (base, version))
    series = [
        _Series.of(quantity, before[quantity.key], after[quantity.key])
        for quantity in quantities(plan, trials)
    ]
    # The end that a version is nearer to follows from the pairs of the newest one, too.
    judged_by = [
        trial for trial in trials if plan.request.bisect or trial.version in (base, version)
    ]
    standing = (
        closed(standing_of(plan, judged_by, exclusions), plan) if plan.request.until else None
    )
    compared = plan.most_comparisons
    method = MIXTURE_T if run.resumes or plan.request.until else PAIRED_T
    for deciding, adjust in ((True, equally), (False, holm)):
        family = [each for each in series if each.quantity.metric.decides == deciding]
        rules = [each.criteria(method, len(family) * compared) for each in family]
        p_values = adjust(
            [
                min(1.0, compared * rule.at(each.pairs.count).p_value(each.pairs.estimate))
                for each, rule in zip(family, rules, strict=True)
            ]
        )
        for each, p_value, rule in zip(family, p_values, rules, strict=True):
            verdict = _verdict(each, p_value, rule, (base, version))
            yield _staged(verdict, each, plan, standing) if deciding else verdict


def _verdict(
    series: _Series, p_value: float, criteria: Criteria, versions: tuple[str, str]
) -> Verdict:
    pairs, (base, version) = series.pairs, versions
    judgement = (
        judge_by(p_value, pairs.estimate, criteria) if series.has_pairs else _WITHOUT_LOGARITHM
    )
    undecided = series.has_pairs and judgement.word == "cannot tell"
    return Verdict(
        quantity=series.quantity,
        base=base,
        version=version,
        judgement=judgement,
        change=_change_of_means(series.base, series.new),
        trials_base=len(series.base),
        trials_new=len(series.new),
        margins=criteria.margins,
        family=round(1 / criteria.share),
        detectable=detectable(pairs, criteria),
        more_pairs=missing(pairs, criteria) if undecided else None,
        outliers=series.repetitions(pairs.outliers),
        odd=series.odd(pairs, judgement),
        spread=spread_change(
            [*series.base.values()], [*series.new.values()], criteria.margins.alarm, criteria.alpha
        ),
    )


def _staged(
    verdict: Verdict, series: _Series, plan: Plan, standing: SequentialRun | None
) -> Verdict:
    """Return the verdict of a run that goes on until decided: new pairs must confirm its alarms."""
    if standing is None:
        return verdict
    if verdict.base != plan.request.baseline:
        why = "new pairs confirm changes from the baseline alone"
        return verdict._replace(judgement=unconfirmed(verdict.judgement, why))
    rule = criteria(plan, verdict.quantity)
    course = standing.course(verdict.version, verdict.quantity)
    nearer = nearer_to(standing, plan, verdict.version, verdict.quantity)
    # A run with more time may decide what this one had no time for.
    is_decided = (course.is_decided and course.given_up != TOO_SHORT) or bool(nearer)
    judgement = judged(standing, plan, verdict.version, verdict.quantity)
    if judgement.pairs > course.pairs.count:
        course = course.joined
    return verdict._replace(
        judgement=judgement,
        stage=course.stage,
        first=course.first_judgement(rule),
        detectable=detectable(course.pairs, course.of_stage(rule)),
        more_pairs=None if is_decided else missing(course.pairs, course.of_stage(rule)),
        nearer=nearer,
        outliers=series.repetitions(_before(course) + each for each in course.pairs.outliers),
        odd=series.odd(course.pairs, judgement, _before(course)),
    )


def _before(course: SequentialMetric) -> int:
    """Return the number of a run's pairs before those that its verdict is from."""
    return course.first.count if course.again else 0


def _change_of_means(base: Rates, new: Rates) -> float | None:
    return change(mean([*base.values()]), mean([*new.values()])) if base and new else None


def _values(rates: Mapping[int, Rate]) -> Rates:
    return {each: rate.value for each, rate in rates.items() if rate.value is not None}


def _rates(
    trials: Iterable[TrialResult], exclusions: Exclusions, version: str
) -> Mapping[Key, Mapping[int, Rate]]:
    rates: defaultdict[Key, dict[int, Rate]] = defaultdict(dict)
    of_version = (trial for trial in trials if trial.version == version)
    for each in measured_rates(of_version, exclusions):
        rates[each.key][each.trial.repetition] = each.rate
    return rates
