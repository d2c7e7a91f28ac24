"""The rule of verdicts in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from tidemark.figures.spread import TEST
from tidemark.figures.verdicts.rule import ALARM, ALARMS, EQUIVALENCE, UNCONFIRMED
from tidemark.figures.verdicts.sequential_metric import Stage
from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.model.metric import Metric
from tidemark.model.numerals import bound, percent
from tidemark.model.run_spec import FEWEST
from tidemark.model.sentences import listed

_RULE = (
    "A verdict needs at least {fewest} pairs; a pair is the two trials of one repetition. A pair "
    "that lies far from all others is left out and named. Slower "
    "and faster mean a change of {margins} or more. If nothing has changed, at most {by_chance} of "
    "runs until decided say slower or faster, over all their deciding metrics and versions, since "
    "new pairs confirm each change. A run of fixed repetitions has no new pairs: up to {unlike} of "
    "those say so, if one version alone has slow outliers or each repetition resembles the one "
    "before. Same means that the "
    "{inside} interval of the change stays within {bounds}. Otherwise the pairs cannot tell."
)


def rule(metrics: Collection[Metric]) -> str:
    """Return how changes of some metrics are judged, in sentences."""
    return _RULE.format(
        fewest=FEWEST,
        margins=_each((bound(metric.margin), metric.name) for metric in metrics),
        by_chance=bound(ALARM),
        unlike=bound(UNCONFIRMED),
        inside=bound(1 - EQUIVALENCE),
        bounds=_each((within(metric), metric.name) for metric in metrics),
    )


def confirmation(word: str, stage: Stage, pairs: int) -> str:
    """Return whether new pairs confirmed a verdict, '' for one that needs no confirmation."""
    if word not in ALARMS:
        return ""
    return f"confirmed by {pairs} new pairs" if stage == "confirmed" else "no new pairs confirm it"


def note(verdict: Verdict) -> str:
    """Return whether new pairs confirmed a verdict, and which are left out; '' for neither."""
    judged = verdict.judgement
    confirmed = confirmation(judged.word, verdict.stage, judged.pairs) if verdict.first else ""
    return ", ".join(each for each in (confirmed, left_out(verdict)) if each)


def left_out(verdict: Verdict | None) -> str:
    """Return which pairs lie too far from all others to count, or scatter most; '' for none."""
    if verdict and verdict.odd:
        return f"the pair of repetition {verdict.odd} lies farthest from the others"
    if not (verdict and verdict.outliers):
        return ""
    repetitions = listed([str(each) for each in verdict.outliers])
    named = "repetition" if len(verdict.outliers) == 1 else "repetitions"
    return f"without the pair of {named} {repetitions}, far from all others"


def steadiness(verdicts: Iterable[Verdict], machines: str = "") -> Iterator[str]:
    """Yield a sentence for each change of spread that a comparison found.

    ``machines`` are words that say whether the machines of both versions are unlike.
    """
    for verdict in verdicts:
        if found := verdict.spread:
            yield (
                f"{verdict.quantity.name} is {found.word} with {verdict.version}{machines}: its "
                f"trials scatter by {percent(found.after)} around their median, and trials of "
                f"{verdict.base} by {percent(found.before)} ({TEST}, p = {found.p_value:.2g})."
            )


def within(metric: Metric) -> str:
    """Return the bounds of the same."""
    return f"±{bound(metric.same_within)}"


def _each(bounds: Iterable[tuple[str, str]]) -> str:
    """Return the bound of all metrics, or each bound with the names of its metrics."""
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for text, name in bounds:
        names[text][name] = None
    if len(names) == 1:
        return next(iter(names))
    return ", ".join(f"{text} ({listed(of_bound)})" for text, of_bound in names.items())
