"""The contents of a comparison; its first line answers, and everything else explains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, product

from tidemark.model.comment import Comment
from tidemark.model.labels import figure_name, labelled_name
from tidemark.model.numerals import MISSING, NONE, change, figure, interval
from tidemark.model.parameters import Combination
from tidemark.model.sentences import plural
from tidemark.model.suite import Test
from tidemark.report import grown_functions, setup
from tidemark.report.blocks import Block, Bullets, Details, Report, Row, Section, Table
from tidemark.report.charts import Group
from tidemark.report.comments import sections_of_sides
from tidemark.report.comparison import by_labels, changes_chart
from tidemark.report.comparison.document import beside_cpu_time
from tidemark.report.comparison.findings import action_items, comments, next_step
from tidemark.report.comparison.sides import Pair, Reading, Sides, why_incomparable
from tidemark.report.grown_functions import Grown
from tidemark.report.marks import FAILURES, Told, answer_items, headline, marked
from tidemark.report.rule import note, rule
from tidemark.report.run_report import trials
from tidemark.report.run_report.course import course
from tidemark.report.run_report.load import limit_charts, limits_of, series_limits
from tidemark.report.run_report.versions import MOST_CHARTS, label_cells, label_columns
from tidemark.report.samples_chart import Column, chart
from tidemark.report.setup import unlike_work

_EXPLANATION = (
    "Δ is the change that the verdict judges: of new / base, the geometric mean over the pairs of "
    "trials, or over all trials if different runs measured both. It has the sign of the figure's "
    "change: a latency that rises has a Δ above zero, and is worse. The mean of a version is over "
    "all of its trials that count, ± their standard deviation; Δ is not the change of these means. "
)
# All of RocksDB. With more rows, a comment would have more than 24 lines before its first fold.
_MOST_AT_ONCE = 6


def comparison(
    sides: Sides, functions: Sequence[Grown] = (), said: Sequence[Comment] = ()
) -> Report:
    """Return the comparison of two sides; the same stored runs give the same comparison.

    ``functions`` are what their profiles tell, and ``said`` is what people say of it.
    """
    return Report(
        title=f"{sides.new.run.plan.suite.title}: {sides.new.name} against {sides.base.name}",
        summary=tuple(_summary(sides)),
        sections=(
            *sections_of_sides(said, sides),
            *_sections(sides, functions),
        ),
    )


def _summary(sides: Sides) -> Iterator[Block]:
    told, failures = [_told(pair, sides) for pair in sides.pairs], _failed_trials(sides)
    found = headline(told, list(failures.values())) or "There is no metric to compare"
    yield " ".join((f"{found}.", *_unlike(sides)))
    # The headline tells of failed trials already.
    reasons = (each._replace(reason=_beside(each.reason, failures)) for each in told)
    if items := tuple(answer_items(reasons)):
        yield Bullets(items)
    if disagreeing := tuple(f"{sentence}." for sentence in beside_cpu_time(sides.pairs)):
        yield Bullets(disagreeing)
    yield next_step(sides)
    yield " ".join(_counts(sides))


def _counts(sides: Sides) -> Iterator[str]:
    if sides.in_one_run:
        yield f"Run {sides.new.run.plan.run_id}."
    for side in sides.both:
        where = "" if sides.in_one_run else f", in run {side.run.plan.run_id}"
        yield f"{side.name}{where}: {trials.count(side.run)}"


def _sections(sides: Sides, functions: Sequence[Grown]) -> Iterator[Section]:
    ordered = sorted(sides.pairs, key=lambda pair: _told(pair, sides).place)
    yield Section("Results", tuple(_results(sides, ordered)))
    if users := (*by_labels.supported_users(sides), *_over_users(sides)):
        yield Section("Supported users", users, evidence=True)
    if by := (*by_labels.axis_blocks(sides), *by_labels.blocks(sides)):
        yield Section("Results by axis and label", by, details=True)
    if functions:
        yield Section("Functions", tuple(grown_functions.blocks(functions)), evidence=True)
    yield Section("Comments", comments(sides), evidence=True)
    if items := tuple(action_items(sides)):
        yield Section("Action items", items, evidence=True)
    yield Section("Setup", (setup.differences(sides),), evidence=True)
    alike = setup.rest(sides)
    folded = Details(plural(len(alike.rows), "setting"), (alike,))
    yield Section("Other settings", (folded,), details=True)
    if all(side.run.plan.imported for side in sides.both):
        return  # published figures have no samples, tasks or times
    for test, axes in product(sides.tests(), sides.combinations()):
        of_test = [pair for pair in sides.pairs if pair.quantity.test == test]
        own = [pair for pair in of_test if pair.quantity.axes == axes]
        name = labelled_name(test, axes)
        # The section of supported users has the chart of the first limit.
        measured = _measured(sides, test)
        limits = dict(islice(limits_of(measured).items(), 1, None))
        groups = _groups(sides, test, axes)
        drawn = course(name, groups, limits, series_limits(measured))
        graphs = (*drawn, *_charts(own, sides))
        yield Section(f"Graphs: {name}", graphs, details=True)


def _results(sides: Sides, pairs: Sequence[Pair]) -> Iterator[Block]:
    """Yield the chart of changes, the table of the metrics that matter most, and the other metrics.

    ``pairs`` have the changes first, and among them the metrics that decide.
    """
    first, others = pairs[:_MOST_AT_ONCE], pairs[_MOST_AT_ONCE:]
    drawn = [each for each in map(_drawn_change, pairs) if each]
    yield changes_chart.chart(drawn, len(pairs), _table(sides, first))
    if others:
        yield Details(plural(len(others), "more metric"), (_table(sides, others),))
    yield Details("All digits, spreads and trials", (_figures(sides, pairs),))
    explanation = _EXPLANATION + rule([pair.metric for pair in pairs])
    yield Details("How to read the figures", (explanation,))


def _drawn_change(pair: Pair) -> changes_chart.DrawnChange | None:
    """Return the change of a metric, None without one."""
    if pair.verdict is None or pair.effect is None:
        return None
    judgement, metric = pair.verdict.judgement, pair.metric
    return changes_chart.DrawnChange(
        title=pair.title,
        unit=metric.unit,
        direction=metric.direction,
        verdict=pair.word,
        effect=pair.effect,
        low=judgement.low,
        high=judgement.high,
    )


def _table(sides: Sides, pairs: Sequence[Pair]) -> Table:
    """Return the table of changes, in the digits that their intervals and spreads support."""
    base, new = sides.base.name, sides.new.name
    figures = ("Δ", "95 % interval", *_means(sides))
    labels = label_columns(pair.quantity for pair in pairs)
    return Table(
        caption=f"Changes from {base} to {new}",
        columns=("Metric", *labels, "Verdict", *figures),
        rows=tuple(_short_row(pair, labels) for pair in pairs),
        numbers=frozenset(figures),
    )


def _short_row(pair: Pair, labels: Sequence[str]) -> Row:
    judgement = pair.verdict and pair.verdict.judgement
    return Row(
        (
            f"{pair.quantity.without_labels.title} [{pair.metric.unit}]",
            *label_cells(pair.quantity, labels),
            marked(pair.word),
            change(pair.effect, pair.metric, pair.places),
            interval(judgement, pair.metric, pair.places) if judgement else NONE,
            _mean(pair, pair.base),
            _mean(pair, pair.new),
        )
    )


def _figures(sides: Sides, pairs: Sequence[Pair]) -> Table:
    base, new = sides.base.name, sides.new.name
    figures = ("Δ", "95 % interval", *_means(sides), f"± of {base}", f"± of {new}")
    labels = label_columns(pair.quantity for pair in pairs)
    return Table(
        caption=f"Metrics of {base} (base) and {new} (new)",
        columns=("Test", "Metric", *labels, "Verdict", *figures, "Trials"),
        rows=tuple(_row(pair, labels) for pair in pairs),
        numbers=frozenset(figures),
    )


def _means(sides: Sides) -> tuple[str, ...]:
    return tuple(f"Mean of {side.name}" for side in sides.both)


def _row(pair: Pair, labels: Sequence[str]) -> Row:
    verdict = pair.verdict
    return Row(
        (
            pair.quantity.test,
            f"{pair.quantity.without_labels.name_in_test} [{pair.metric.unit}]",
            *label_cells(pair.quantity, labels),
            marked(pair.word),
            change(pair.effect, pair.metric),
            interval(verdict.judgement, pair.metric) if verdict else NONE,
            _mean(pair, pair.base, exact=True),
            _mean(pair, pair.new, exact=True),
            _spread(pair.base),
            _spread(pair.new),
            f"{_trials(pair.base)}, {_trials(pair.new)}",
        )
    )


def _mean(pair: Pair, reading: Reading | None, *, exact: bool = False) -> str:
    """Return the mean of a side, with its unit if the pair has another."""
    if reading is None or reading.rate.value is None:
        return MISSING
    text, unit = figure(reading.rate.value) if exact else reading.text, reading.metric.unit
    return text if unit == pair.metric.unit else f"{text} {unit}"


def _spread(reading: Reading | None) -> str:
    if reading is None or not reading.values:
        return MISSING
    return "one trial" if reading.rate.spread is None else figure(reading.rate.spread)


def _trials(reading: Reading | None) -> str:
    return f"{reading.rate.trials} of {reading.rate.planned}" if reading else MISSING


def _groups(sides: Sides, test: str, axes: Combination) -> list[Group]:
    return [Group(side.name, list(side.run.results(test, axes))) for side in sides.both]


def _over_users(sides: Sides) -> Iterator[Block]:
    """Yield the chart of each load's first limit over the users."""
    for test, axes in product(sides.tests(), sides.combinations()):
        first = dict(islice(limits_of(_measured(sides, test)).items(), 1))
        yield from limit_charts(labelled_name(test, axes), _groups(sides, test, axes), first)


def _measured(sides: Sides, name: str) -> Test:
    """Return a test as the new side has it, or as the base does if that alone has it."""
    tests = (test for side in (sides.new, sides.base) for test in side.tests)
    return next(test for test in tests if test.name == name)


def _charts(pairs: Sequence[Pair], sides: Sides) -> Iterator[Block]:
    """Yield a chart for each quantity, up to ``MOST_CHARTS`` of each metric."""
    drawn: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        figure = pair.metric.name, pair.quantity.statistic
        drawn[figure] += 1
        if drawn[figure] <= MOST_CHARTS:
            yield _samples(pair, sides)
    for (metric, statistic), count in drawn.items():
        if count > MOST_CHARTS:
            name = figure_name(metric, statistic, "")
            yield f"{name}: the table of results has {count - MOST_CHARTS} more, without charts."


def _samples(pair: Pair, sides: Sides) -> Block:
    readings = [(reading, side) for reading, side in sides.readings(pair) if reading]
    if len({reading.metric.unit for reading, _ in readings}) > 1:
        return f"No chart of {pair.name}: {why_incomparable(pair, sides)}."
    return chart(
        pair.quantity,
        [
            Column(side.name, reading.rate.value, reading.rate.planned, reading.measurements)
            for reading, side in readings
        ],
    )


def _told(pair: Pair, sides: Sides) -> Told:
    """Return the verdict on a metric as the answer tells it."""
    judged = pair.verdict and pair.verdict.judgement
    return Told(
        name=pair.name,
        family=pair.metric.name,
        word=pair.word,
        reason=judged.reason if judged else why_incomparable(pair, sides),
        decides=pair.metric.decides,
        effect=pair.effect,
        change=change(pair.effect, pair.metric, pair.places),
        interval=interval(judged, pair.metric, pair.places) if judged else NONE,
        note=note(pair.verdict) if pair.verdict else "",
    )


def _beside(reason: str, failures: Collection[str]) -> str:
    return "" if reason in failures else reason


def _failed_trials(sides: Sides) -> dict[str, str]:
    """Return the trials that failed, by the reason that they are for a missing verdict."""
    failures = {}
    for side in sides.both:
        if failed := trials.failed(side.run):
            word, count = failed
            failures[f"{count} of {side.name} {word}"] = f"{FAILURES[word]}: {count} of {side.name}"
    return failures


def _unlike(sides: Sides) -> Iterator[str]:
    if unlike := unlike_work(sides):
        more = f", and {len(unlike) - 1} more" if len(unlike) > 1 else ""
        yield f"The two sides were not measured alike: {unlike[0]}{more}."
