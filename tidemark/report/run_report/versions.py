"""The rates and verdicts of a run's versions, each compared with its base.

A test's operations are also shown by their share of the time.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from tidemark.figures.trial_statistics import QUANTILES, Histogram, histogram, pooled_quantile
from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.figures.version_rates import Quantity, VersionRate
from tidemark.model.labels import canonical, labelled_name
from tidemark.model.numerals import (
    MISSING,
    NONE,
    RULES,
    change,
    figure,
    interval,
    percent,
    percent_places,
    supported,
)
from tidemark.model.sentences import plural
from tidemark.report import charts
from tidemark.report.blocks import Block, Bullets, Details, Row, Section, Table
from tidemark.report.marks import CHANGES, FAILURES, Told, answer_items, headline, marked
from tidemark.report.rule import left_out, note, rule, steadiness
from tidemark.report.run_report import trials
from tidemark.report.run_report.measured import MeasuredRun, Measurement
from tidemark.report.samples_chart import Column, chart

_EXPLANATION = (
    "A rate is the mean of its trials, and the spread is their standard deviation. Both, and the "
    "least and the largest sample, have the digits that the spread supports. The verdict compares "
    "a version with {base}. Δ is the change that the verdict judges: of new / old, the geometric "
    "mean over the pairs of trials. It is not the change of the rates. "
)

_POOLED = "Quantiles over all trials"
_OF_POOLED = (
    "The values of all trials together have this quantile, and the rate above is the mean of the "
    "trials' own quantiles. The interval follows from how much the trials differ (Woodruff). The "
    "verdict is from the pairs of trials."
)
_FIGURES = ("Trials", "Samples", "Min", "Max")
ALL_DIGITS = "All digits and samples"
"""The name of the table of results in all digits."""
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
    without_base: str
    """The word for a version without a base."""
    exact: bool = False
    """Whether changes have all digits, and not only those that their intervals support."""

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
        if self.verdict.first and not reason:
            return f"{marked(word)}, {note(self.verdict)}"
        why = ", ".join(each for each in (reason, left_out(self.verdict)) if each)
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
        return percent_places(judged.low, judged.high) if judged and not self.exact else 2

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
    def is_news(self) -> bool:
        """Whether the verdict is missing, or is not the same."""
        return self.word != "same"


def answer(run: MeasuredRun) -> Iterator[Block]:
    """Yield how many metrics have which verdict, the changes that matter most, and the others.

    A run without two versions to compare has its figures instead.
    """
    steps = [(quantity, step) for quantity in run.quantities for step in _steps(run, quantity)]
    pairs = dict.fromkeys(_pair(step) for _, step in steps if step.base)
    told = [_told(quantity, step, named=len(pairs) > 1) for quantity, step in steps
            if step.base and not (step.verdict and step.verdict.nearer)]  # fmt: skip
    failed = list(_failures(run))
    if told:
        base = run.plan.request.baseline or "the version before it"
        of = next(iter(pairs)) if len(pairs) == 1 else f"Each version against {base}"
        yield f"{of}: {headline(told, failed)}."
        yield Bullets(tuple(answer_items(told)))
    else:
        alone = "One version has nothing to be compared with"
        yield " ".join(f"{sentence}." for sentence in (*failed, alone))
        yield Bullets(tuple(_figures(steps)))


def _pair(step: _Step) -> str:
    return f"{step.rate.version} against {step.base.version}" if step.base else ""


def _told(quantity: Quantity, step: _Step, *, named: bool) -> Told:
    """Return the verdict on a version; its versions are ``named`` if there are several."""
    verdict = step.verdict
    return Told(
        name=quantity.name,
        family=quantity.metric.name,
        word=step.word or "not comparable",
        reason=verdict.judgement.reason if verdict else step.change,
        decides=quantity.metric.decides,
        effect=verdict.judgement.effect if verdict else None,
        change=step.change,
        interval=step.interval or NONE,
        note=note(verdict) if verdict else "",
        versions=_pair(step) if named else "",
    )


def _figures(steps: Sequence[tuple[Quantity, _Step]]) -> Iterator[str]:
    """Yield the first figures of one version, those that decide first."""
    ordered = sorted(steps, key=lambda each: not each[0].metric.decides)
    for quantity, step in ordered[:_MOST_NAMED]:
        value, spread = _supported(step.rate)
        within = f" ± {spread}" if spread else ""
        yield f"{quantity.name} of {step.rate.version}: {value}{within} {step.rate.unit}"
    if (more := len(ordered) - _MOST_NAMED) > 0:
        yield f"{plural(more, 'more metric')}"


def _urgency(steps: Sequence[_Step]) -> int:
    """Return the place of the worst change in ``CHANGES``, or its length if nothing changed."""
    words = {step.word for step in steps}
    return next((at for at, word in enumerate(CHANGES) if word in words), len(CHANGES))


def _failures(run: MeasuredRun) -> Iterator[str]:
    if failed := trials.failed(run):
        word, count = failed
        yield f"{FAILURES[word]}: {count}"


def _explanation(run: MeasuredRun) -> str:
    """Return what the figures and the verdicts mean."""
    metrics = [quantity.metric for quantity in run.quantities]
    baseline = run.plan.request.baseline
    base = f"the baseline, {baseline}" if baseline else "the version before it"
    return _EXPLANATION.format(base=base) + rule(metrics)


def results(run: MeasuredRun) -> Section:
    """Return the rates of all quantities by version, or the changes alone if that is too long."""
    rows = [(quantity, step) for quantity in run.quantities for step in _steps(run, quantity)]
    shown = rows
    if len(rows) > _MOST_ROWS:
        news = [(quantity, step) for quantity, step in rows if step.base and step.is_news]
        news.sort(key=lambda row: _told(*row, named=False).place)
        decisive = sorted(rows, key=lambda row: not row[0].metric.decides)
        shown = (news or decisive)[:_MOST_ROWS]
    rest = f"The sections below have {plural(len(rows) - len(shown), 'more row')}."
    more = (rest,) if len(shown) < len(rows) else ()
    details = (
        Details(ALL_DIGITS, (_rates(shown, exact=True),)),
        *_pooled(run),
        Details("How to read the figures", (_explanation(run),)),
    )
    return Section("Results", (*_levels(run), _rates(shown), *more, *details))


def _rates(rows: Sequence[tuple[Quantity, _Step]], *, exact: bool = False) -> Table:
    """Return the table of rates and changes, with all digits or those that spreads support."""
    labels = label_columns(quantity for quantity, _ in rows)
    figures = ("Rate", "± spread", *(("Samples",) if exact else ()), "Δ", "95 % interval")
    return Table(
        caption=ALL_DIGITS if exact else "Rates and changes",
        columns=("Metric", *labels, "Version", *figures, "Verdict"),
        rows=tuple(Row(_result(*row, labels, exact=exact)) for row in rows),
        numbers=frozenset(figures),
    )


def _pooled(run: MeasuredRun) -> Iterator[Block]:
    """Yield the table of quantiles over the values of all trials; none without such values."""
    quantiles = [quantity for quantity in run.quantities if quantity.statistic in QUANTILES]
    labels, figures = label_columns(quantiles), ("Trials", "Values", "Quantile", "95 % interval")
    rows = tuple(
        Row((name, *label_cells(quantity, labels), rate.version, *_pooled_cells(quantity, trials)))
        for quantity in quantiles[:_MOST_ROWS]
        for name in [f"{quantity.without_labels.name} [{quantity.metric.unit}]"]
        for rate in run.rates_of(quantity)
        if (trials := _values(run, quantity, rate.version))
    )
    if rows:
        columns = ("Metric", *labels, "Version", *figures)
        table = Table(_POOLED, columns, rows, frozenset(figures))
        count = len(quantiles)
        first = f"The table has the first {_MOST_ROWS} of {count:,} quantiles."
        yield Details(_POOLED, (_OF_POOLED, table, *([first] if count > _MOST_ROWS else [])))


def _values(run: MeasuredRun, quantity: Quantity, version: str) -> list[Histogram]:
    """Return the values of each trial of a version that counts, without trials that have none."""
    counting = (
        each for each in run.measurements(quantity) if each.counts and each.trial.version == version
    )
    values = (
        _binned(each, quantity)
        if quantity.metric.histograms
        else Counter(sample.value for sample in each.samples if sample.value is not None)
        for each in counting
    )
    return list(filter(None, values))


def _binned(measurement: Measurement, quantity: Quantity) -> Histogram:
    """Return the values of a trial in buckets, which one figure of the metric has for all."""
    of_metric = quantity.metric.name, quantity.labels
    rates = measurement.result.rates
    texts = (each.histogram for each in rates if (each.metric, canonical(each.labels)) == of_metric)
    text = next(filter(None, texts), "")
    return histogram(text) if text else {}


def _pooled_cells(quantity: Quantity, trials: Sequence[Histogram]) -> tuple[str, ...]:
    exact = quantity.metric.histograms is None
    pooled = pooled_quantile(trials, QUANTILES[quantity.statistic], exact=exact)
    ends = [end for end in (pooled.low, pooled.high) if end is not None]
    half = max(abs(end - pooled.value) for end in ends) if ends else None
    low, value, high = (
        MISSING if each is None else supported(each, half)[0]
        for each in (pooled.low, pooled.value, pooled.high)
    )
    interval = f"{low} to {high}" if ends else MISSING
    return str(len(trials)), f"{pooled.values:,}", value, interval


def label_columns(quantities: Iterable[Quantity]) -> tuple[str, ...]:
    """Return the names of all labels, in the order in which figures have them."""
    return tuple(dict.fromkeys(name for each in quantities for name in each.all_labels))


def label_cells(quantity: Quantity, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of a figure by column, '' for a label that it lacks."""
    return tuple(quantity.all_labels.get(name, "") for name in columns)


def _levels(run: MeasuredRun) -> Iterator[Block]:
    """Yield the charts of a few quantities over the versions, those with changes first."""
    steps = [(quantity, _steps(run, quantity)) for quantity in run.quantities]
    steps.sort(key=lambda each: _urgency(each[1]))
    for quantity, of_quantity in steps[:_MOST_LEVELS]:
        levels = [charts.Level(step.rate, *step.level) for step in of_quantity]
        if sum(level.rate.value is not None for level in levels) >= _FEWEST_LEVELS:
            yield charts.version_levels(quantity, levels)


def _result(
    quantity: Quantity, step: _Step, labels: Sequence[str], *, exact: bool
) -> tuple[str, ...]:
    rate = step.rate
    name = f"{quantity.without_labels.name} [{rate.unit}]"
    values: tuple[str, ...] = _supported(rate)
    if exact:
        spread = "" if rate.spread is None else figure(rate.spread)
        values = figure(rate.value), spread, str(rate.samples)
    step = step._replace(exact=exact)
    changed = (step.change, step.interval, step.conclusion) if step.base else ("", "", "")
    return name, *label_cells(quantity, labels), rate.version, *values, *changed


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section for each metric of a test: its rates by label and version, and its samples.

    The quantities of a metric beyond the first ``MOST_CHARTS`` have no charts.
    """
    for _, of_metric in groupby(run.quantities, key=lambda quantity: quantity.key[:2]):
        yield _section(run, list(of_metric))


def _section(run: MeasuredRun, quantities: Sequence[Quantity]) -> Section:
    first, count = quantities[0], len(quantities)
    drawn = (_samples(run, each) for each in quantities[:MOST_CHARTS])
    more = count - MOST_CHARTS
    rest = [f"The table has {more} more, without charts."] if more > 0 else []
    if count == 1:
        return Section(first.name, (_table(run, quantities), *drawn), details=True)
    name = first.without_labels._replace(statistic="mean").name
    heading = f"{name}: {count:,} by label and statistic"
    return Section(heading, (_table(run, quantities), *rest, *drawn), details=True)


def _samples(run: MeasuredRun, quantity: Quantity) -> Block:
    measurements = list(run.measurements(quantity))
    columns = [
        Column(
            rate.version,
            rate.value,
            rate.planned,
            [each for each in measurements if each.trial.version == rate.version],
        )
        for rate in run.rates_of(quantity)
    ]
    return chart(quantity, columns)


def _steps(run: MeasuredRun, quantity: Quantity) -> list[_Step]:
    rates = {rate.version: rate for rate in run.rates_of(quantity)}
    without_base = "baseline" if run.plan.request.baseline else "first version"
    return [
        _Step(rates.get(rate.base or ""), rate, run.against_base(quantity, rate), without_base)
        for rate in rates.values()
    ]


def _table(run: MeasuredRun, quantities: Sequence[Quantity]) -> Table:
    """Return the rates of a metric by version, with its labels and statistics if it has several."""
    metric, several = quantities[0].metric, len(quantities) > 1
    base = run.plan.request.baseline or "the version before"
    labels = label_columns(quantities) if several else ()
    statistic = ("Statistic",) if len({each.statistic for each in quantities}) > 1 else ()
    name = metric.name if several else quantities[0].name
    return Table(
        caption=f"{name} in {metric.unit} by version; {metric.direction} is better",
        columns=(
            *(*labels, *statistic, "Version", "Rate", "± spread", f"Δ to {base}", "Verdict"),
            *_FIGURES,
        ),
        rows=tuple(
            Row(
                (
                    *label_cells(each, labels),
                    *(each.statistic for _ in statistic),
                    *_cells(step, measurements),
                )
            )
            for each in quantities
            for measurements in [list(run.measurements(each))]
            for step in _steps(run, each)
        ),
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


_OF_CONTENDERS = (
    "An operation takes the number of its calls times their mean time, over all trials that count. "
    "Its share is of the time of all operations, so the first rows are the biggest contenders."
)
_FEWEST_CONTENDERS = 2


def contenders(run: MeasuredRun) -> Iterator[Section]:
    """Yield the section of each test's operations by their share of the time, if it has any."""
    groups: defaultdict[tuple[str, str], list[Quantity]] = defaultdict(list)
    for quantity in filter(_is_time, run.quantities):
        name = labelled_name(quantity.metric.name, quantity.axes)
        groups[quantity.test, name].append(quantity)
    tables = tuple(
        _contenders(run, f"{name} of {test}", quantities)
        for (test, name), quantities in groups.items()
        if len(quantities) >= _FEWEST_CONTENDERS
    )
    if tables:
        yield Section("Where the time goes", (_OF_CONTENDERS, *tables), details=True)


def _is_time(quantity: Quantity) -> bool:
    """Tell whether a quantity is the mean time of an operation."""
    is_mean = quantity.statistic == "mean" and quantity.metric.unit in RULES.times_units
    return is_mean and bool(quantity.own_labels)


def _contenders(run: MeasuredRun, name: str, quantities: Sequence[Quantity]) -> Table:
    rates = {", ".join(each.own_labels.values()): run.rates_of(each) for each in quantities}
    versions = dict.fromkeys(rate.version for of_one in rates.values() for rate in of_one)
    totals = [math.fsum(map(_time, of_version)) for of_version in zip(*rates.values(), strict=True)]
    ranked = sorted(rates.items(), key=lambda each: -_time(each[1][-1]))
    figures = tuple(
        f"{what} of {version}" for version in versions for what in ("Calls", "Mean", "Share")
    )
    return Table(
        caption=f"{name} [{quantities[0].metric.unit}], by the share of all time",
        columns=("Operation", *figures),
        rows=tuple(Row((labels, *_shares(of_one, totals))) for labels, of_one in ranked),
        numbers=frozenset(figures),
    )


def _time(rate: VersionRate) -> float:
    return (rate.value or 0.0) * rate.samples


def _shares(rates: Sequence[VersionRate], totals: Sequence[float]) -> Iterator[str]:
    for rate, total in zip(rates, totals, strict=True):
        share = _time(rate) / total if total and rate.value is not None else None
        yield from (f"{rate.samples:,}", _supported(rate)[0], percent(share, 1))


def steadiness_sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section with the changes of spread, against the base of each version."""
    judged = (
        verdict
        for quantity in run.quantities
        for rate in run.rates_of(quantity)
        if (verdict := run.against_base(quantity, rate))
    )
    if found := tuple(steadiness(judged)):
        yield Section("Steadiness", (Bullets(found),))
