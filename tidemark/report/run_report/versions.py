"""The rates of a run's versions, each compared with its base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.figures.version_rates import Quantity, VersionRate
from tidemark.model.labels import figure_name
from tidemark.model.numerals import MISSING, change, figure, interval, percent_places, supported
from tidemark.model.sentences import plural
from tidemark.report import charts
from tidemark.report.blocks import Block, Bullets, Details, Row, Section, Table
from tidemark.report.marks import CHANGES, FAILURES, marked
from tidemark.report.rule import confirmation, left_out, rule, within
from tidemark.report.run_report import trials
from tidemark.report.run_report.measured import MeasuredRun, Measurement
from tidemark.report.samples_chart import Column, chart

_EXPLANATION = (
    "A rate is the mean of its trials, and the spread is their standard deviation. Both, and the "
    "least and the largest sample, have the digits that the spread supports. The verdict compares "
    "a version with {base}. Δ is the change that the verdict judges: of new / old, the geometric "
    "mean over the pairs of trials. It is not the change of the rates. "
)

_FIGURES = ("Trials", "Samples", "Min", "Max")
_RESULTS = ("Metric", "Version", "Rate", "± spread", "Δ", "95 % interval", "Verdict")
_MOST_ROWS, _MOST_NAMED, _MOST_LEVELS = 24, 10, 4  # as much as a screen shows
_FEWEST_LEVELS = 3  # versions that a chart shows better than a table
_NUMBERS = frozenset({"Rate", "± spread", *_FIGURES})
MOST_CHARTS = 20
"""The most charts of a metric: a page with a thousand would be too large to read."""


class _Step(NamedTuple):
    """The rates of a version and of its base, None if it has none."""

    base: VersionRate | None
    rate: VersionRate
    verdict: Verdict | None
    """The verdict on both; None if one of them has no rate."""
    without_base: str = "first version"
    """The word for a version without a base."""

    @property
    def change(self) -> str:
        """The change of the rate in words."""
        if self.base is None:
            return self.without_base
        for rate in (self.base, self.rate):
            if rate.value is None:
                return f"{MISSING}: {rate.version} has no rate that counts"
        effect = self.verdict.judgement.effect if self.verdict else None
        return change(effect, self.rate, self._places)

    @property
    def conclusion(self) -> str:
        """The verdict in words, with the reason if the trials cannot tell."""
        if self.verdict is None:
            return "nothing to compare"
        if self.verdict.nearer:
            return f"nearer to {self.verdict.nearer}"
        word, reason = self.verdict.judgement.word, self.verdict.judgement.reason
        told = left_out(self.verdict)
        if self.verdict.first and not reason:
            confirmed = confirmation(word, self.verdict.stage, self.verdict.judgement.pairs)
            return ", ".join([marked(word), confirmed, *([told] if told else [])])
        why = ", ".join(each for each in (reason, told) if each)
        return f"{marked(word)} ({why})" if why else marked(word)

    @property
    def interval(self) -> str:
        """The 95 % interval of the change, '' without a base."""
        judged = self.verdict and self.verdict.judgement
        return interval(judged, self.rate, self._places) if judged else ""

    @property
    def _places(self) -> int:
        """The places of percentages that the interval of the change supports."""
        judged = self.verdict and self.verdict.judgement
        return percent_places(judged.low, judged.high) if judged else 2

    @property
    def level(self) -> tuple[str, str]:
        """The verdict that the version looks like in a chart, and its words there."""
        if self.verdict is None or not self.verdict.nearer:
            return self.word, self.word
        is_base = self.base is not None and self.verdict.nearer == self.base.version
        return "same" if is_base else "slower", self.conclusion

    @property
    def word(self) -> str:
        """The word of the verdict, '' without one."""
        return self.verdict.judgement.word if self.verdict else ""

    @property
    def is_change(self) -> bool:
        """Whether the version is slower or faster than its base."""
        return self.word in CHANGES

    @property
    def is_news(self) -> bool:
        """Whether the verdict is missing, or is not the same."""
        return self.word != "same"

    @property
    def in_words(self) -> str:
        """The step in a few words."""
        if self.base is None:
            return f"{self.rate.version}: {figure(self.rate.value)} {self.rate.unit}"
        versions = f"{self.rate.version} against {self.base.version}"
        return f"{self.conclusion}, {versions} ({self.change})"


def in_short(run: MeasuredRun) -> Bullets:
    """Return the changes of each quantity, slower ones first, and how many trials failed.

    Only the first few of many quantities are named.
    """
    all_steps = [(quantity, _steps(run, quantity)) for quantity in run.quantities]
    all_steps.sort(key=lambda pair: _urgency(pair[1]))
    changed = sum(_urgency(steps) < len(CHANGES) for _, steps in all_steps[:_MOST_NAMED])
    named = [f"{quantity.name}: {_sentence(quantity, steps)}." for quantity, steps in all_steps]
    more = len(named) - _MOST_NAMED
    others = [f"{plural(more, 'more metric')}."] if more > 0 else []
    return Bullets((*named[:changed], *_failures(run), *named[changed:_MOST_NAMED], *others))


def _urgency(steps: Sequence[_Step]) -> int:
    """Return the place of the worst change in ``CHANGES``, or its length if nothing changed."""
    words = {step.word for step in steps}
    return next((at for at, word in enumerate(CHANGES) if word in words), len(CHANGES))


def _failures(run: MeasuredRun) -> Iterator[str]:
    if failed := trials.failed(run):
        word, count = failed
        yield f"{FAILURES[word]}: {count}."


def summary(run: MeasuredRun) -> list[dict[str, Any]]:
    """Return the rate of each version and quantity, with the judgement on its change, if any."""
    verdicts = {
        (quantity.key, step.rate.version): step.verdict
        for quantity in run.quantities
        for step in _steps(run, quantity)
        if step.verdict
    }
    names = {quantity.key: quantity.name for quantity in run.quantities}
    return [
        {
            **rate.model_dump(),
            "name": names[rate.key],
            "verdict": verdict.judgement._asdict() if verdict else None,
            "nearer": verdict.nearer if verdict else "",
            "baseline": run.plan.request.baseline,
        }
        for rate in run.rates
        for verdict in [verdicts.get((rate.key, rate.version))]
    ]


def _explanation(run: MeasuredRun) -> str:
    """Return what the figures and the verdicts mean."""
    metrics = [quantity.metric for quantity in run.quantities]
    baseline = run.plan.request.baseline
    base = f"the baseline, {baseline}" if baseline else "the version before it"
    return _EXPLANATION.format(base=base) + rule(metrics)


def results(run: MeasuredRun) -> Section:
    """Return the rates of all quantities by version, or the changes alone if that is too long."""
    rows = [(quantity, step) for quantity in run.quantities for step in _steps(run, quantity)]
    if len(rows) > _MOST_ROWS:
        news = [(quantity, step) for quantity, step in rows if step.base and step.is_news]
        shown = sorted(news, key=lambda row: not row[1].is_change)[:_MOST_ROWS]
    else:
        shown = rows
    table = Table(
        caption="Rates and changes",
        columns=_RESULTS,
        rows=tuple(Row(_result(quantity, step)) for quantity, step in shown),
        numbers=frozenset(_RESULTS[2:6]),
    )
    rest = f"The sections below have {plural(len(rows) - len(shown), 'more row')}."
    explained = Details("How to read the figures", (_explanation(run),))
    others = (rest, explained) if len(shown) < len(rows) else (explained,)
    return Section("Results", (*_levels(run), table, *others))


def _levels(run: MeasuredRun) -> Iterator[Block]:
    """Yield the charts of a few quantities over the versions, those with changes first."""
    steps = [(quantity, _steps(run, quantity)) for quantity in run.quantities]
    steps.sort(key=lambda each: _urgency(each[1]))
    for quantity, of_quantity in steps[:_MOST_LEVELS]:
        levels = [charts.Level(step.rate, *step.level) for step in of_quantity]
        if sum(level.rate.value is not None for level in levels) >= _FEWEST_LEVELS:
            yield charts.version_levels(quantity, levels)


def _result(quantity: Quantity, step: _Step) -> tuple[str, ...]:
    rate = step.rate
    name = f"{quantity.name} [{rate.unit}]"
    changed = (step.change, step.interval, step.conclusion) if step.base else ("", "", "")
    return name, rate.version, *_supported(rate), *changed


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section for each quantity: its rates by version, and every sample.

    The quantities of a metric beyond the first ``MOST_CHARTS`` have one table and no charts.
    """
    for _, of_metric in groupby(run.quantities, key=lambda quantity: quantity.key[:3]):
        first, *others = of_metric
        yield from (_section(run, each) for each in [first, *others[: MOST_CHARTS - 1]])
        if more := others[MOST_CHARTS - 1 :]:
            name = figure_name(first.metric.name, first.statistic, "")
            yield Section(f"{name}: {len(more)} more", (_rest(run, more),), details=True)


def _section(run: MeasuredRun, quantity: Quantity) -> Section:
    steps, measurements = _steps(run, quantity), list(run.measurements(quantity))
    columns = [
        Column(
            step.rate.version,
            step.rate.value,
            step.rate.planned,
            [each for each in measurements if each.trial.version == step.rate.version],
        )
        for step in steps
    ]
    contents = (_table(run, quantity, steps, measurements), chart(quantity, columns))
    return Section(quantity.name, contents, details=True)


def _rest(run: MeasuredRun, quantities: Sequence[Quantity]) -> Table:
    metric = quantities[0].metric
    better = f"{metric.direction} is better"
    return Table(
        caption=f"{metric.name} in {metric.unit} by labels and version; {better}",
        columns=("Labels", *_columns(run)),
        rows=tuple(
            Row((quantity.labels.replace('"', ""), *_cells(step, list(run.measurements(quantity)))))
            for quantity in quantities
            for step in _steps(run, quantity)
        ),
        numbers=_NUMBERS,
    )


def _steps(run: MeasuredRun, quantity: Quantity) -> list[_Step]:
    rates = {rate.version: rate for rate in run.rates_of(quantity)}
    baseline = run.plan.request.baseline

    def step(rate: VersionRate) -> _Step:
        if rate.version == baseline:
            return _Step(None, rate, None, "baseline")
        base = rates.get(run.plan.bases.get(rate.version, ""))
        if base is None or base.value is None or rate.value is None:
            return _Step(base, rate, None)
        return _Step(base, rate, run.verdict(base.version, rate.version, quantity))

    return [step(rate) for rate in rates.values()]


def _sentence(quantity: Quantity, steps: Sequence[_Step]) -> str:
    # A version without a base is news only if the run has no other version.
    compared = [step for step in steps if step.base]
    changes = [step.in_words for step in compared or steps if step.is_news]
    return "; ".join(changes) or f"{marked('same')} within {within(quantity.metric)}"


def _columns(run: MeasuredRun) -> tuple[str, ...]:
    base = run.plan.request.baseline or "the version before"
    return "Version", "Rate", "± spread", f"Δ to {base}", "Verdict", *_FIGURES


def _table(
    run: MeasuredRun,
    quantity: Quantity,
    steps: Sequence[_Step],
    measurements: Sequence[Measurement],
) -> Table:
    metric = quantity.metric
    return Table(
        caption=f"{quantity.name} in {metric.unit} by version; {metric.direction} is better",
        columns=_columns(run),
        rows=tuple(Row(_cells(step, measurements)) for step in steps),
        numbers=_NUMBERS,
    )


def _cells(step: _Step, measurements: Sequence[Measurement]) -> tuple[str, ...]:
    rate = step.rate
    values = [
        sample.value
        for measurement in measurements
        if measurement.counts and measurement.trial.version == rate.version
        for sample in measurement.samples
        if sample.value is not None
    ]
    value, spread = _supported(rate)
    return (
        rate.version,
        value,
        "one trial" if rate.trials == 1 else spread or MISSING,
        step.change,
        step.conclusion,
        f"{rate.trials} of {rate.planned}",
        str(rate.samples),
        *(supported(end(values), rate.spread)[0] if values else MISSING for end in (min, max)),
    )


def _supported(rate: VersionRate) -> tuple[str, str]:
    """Return a rate and its spread in the digits that the spread supports."""
    return (MISSING, "") if rate.value is None else supported(rate.value, rate.spread)
