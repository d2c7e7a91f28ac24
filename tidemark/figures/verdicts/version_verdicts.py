"""The verdicts on the versions of a run, quantity by quantity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tidemark.figures.summary import Key, change, mean, quantities, rate_key
from tidemark.figures.verdicts.methods import MIXTURE_T, PAIRED_T
from tidemark.figures.verdicts.outlook import detectable, missing
from tidemark.figures.verdicts.pairs import Pairs, differences
from tidemark.figures.verdicts.rule import Criteria, Judgement, Margins, judge
from tidemark.model.exclusions import Exclusions
from tidemark.model.plan import Plan
from tidemark.model.results import TrialResult
from tidemark.model.suite import MOST_REPETITIONS
from tidemark.model.version_order import version_order

Rates = Mapping[int, float]
"""The rates of the trials that count, by repetition."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on one quantity of a version against a base."""

    test: str
    metric: str
    statistic: str
    labels: str
    """The canonical labels, '' without labels."""
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


def version_pairs(plan: Plan) -> list[tuple[str, str]]:
    """Return the bases and versions of a run: the baseline and all others, the older and newer."""
    baseline = plan.request.baseline
    ascending = sorted(plan.request.versions, key=version_order)
    ordered = sorted(ascending, key=lambda version: version != baseline)
    return list(combinations(ordered, 2))


def verdicts(
    plan: Plan,
    trials: Sequence[TrialResult],
    exclusions: Exclusions,
    base: str,
    version: str,
    *,
    resumed: bool,
) -> Iterator[Verdict]:
    """Yield the verdict on each quantity of a version against a base of the same run.

    A lost, failed or excluded trial drops its pair. Somebody looked at a resumed run before, and
    so its pairs are judged by the method that allows looks.
    """
    counting = [trial for trial in trials if exclusions.reason(trial.trial) is None]
    measured = quantities(plan.suite, trials)
    family = len(measured) * _compared(plan)
    method = MIXTURE_T if resumed else PAIRED_T
    rates = _rates(counting)
    for quantity in measured:
        before, after = (rates[each, quantity.key] for each in (base, version))
        criteria = Criteria(quantity.metric.direction, method, Margins(), 1 / family)
        judgement, pairs = _judged(before, after, criteria)
        undecided = judgement.word == "cannot tell"
        yield Verdict(
            test=quantity.test,
            metric=quantity.metric.name,
            statistic=quantity.statistic,
            labels=quantity.labels,
            base=base,
            version=version,
            judgement=judgement,
            change=change_of_means(before, after),
            trials_base=len(before),
            trials_new=len(after),
            margins=criteria.margins,
            family=family,
            detectable=detectable(pairs, criteria),
            more_pairs=missing(pairs, criteria, MOST_REPETITIONS) if undecided else None,
        )


def change_of_means(before: Rates, after: Rates) -> float | None:
    """Return (new - base) / base of two versions' means; None if one is missing or zero."""
    if not before or not after:
        return None
    return change(mean([*before.values()]), mean([*after.values()]))


def unjudged(reason: str) -> Judgement:
    """Return the judgement on figures that have no pairs."""
    return Judgement(
        word="cannot tell", reason=reason, method="none", effect=None, low=None, high=None, pairs=0
    )


def _judged(before: Rates, after: Rates, criteria: Criteria) -> tuple[Judgement, Pairs]:
    if min([*before.values(), *after.values()], default=1) <= 0:
        return unjudged("a rate is zero or below"), Pairs()
    pairs = Pairs.of(list(differences(before, after).values()))
    return judge(pairs, criteria), pairs


def _rates(trials: Sequence[TrialResult]) -> Mapping[tuple[str, Key], Rates]:
    """Return the rates of each version and quantity, by repetition."""
    rates: defaultdict[tuple[str, Key], dict[int, float]] = defaultdict(dict)
    for trial in trials:
        for result in trial.tests:
            for rate in result.rates:
                if rate.value is not None:
                    own = rates[trial.version, rate_key(result.test, rate)]
                    own[trial.repetition] = rate.value
    return rates


def _compared(plan: Plan) -> int:
    """Return how many versions are compared with a base."""
    return max(1, len(plan.request.versions) - 1)
