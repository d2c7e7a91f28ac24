"""The contents of a comparison; its first line answers, and everything else explains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, product

from tidemark.model.comment import Comment
from tidemark.model.labels import figure_name, labelled_name
from tidemark.model.numerals import NONE, change, interval
from tidemark.model.parameters import Combination
from tidemark.model.sentences import plural
from tidemark.report import grown_functions
from tidemark.report.blocks import Block, Bullets, Details, Report, Section
from tidemark.report.charts import Group
from tidemark.report.comments import sections_of_sides
from tidemark.report.comparison import by_labels, results, setup
from tidemark.report.comparison.document import beside_cpu_time
from tidemark.report.comparison.findings import action_items, comments, next_step
from tidemark.report.comparison.results import why_incomparable
from tidemark.report.comparison.setup import unlike_work
from tidemark.report.comparison.sides import Pair, Sides
from tidemark.report.grown_functions import Grown
from tidemark.report.marks import FAILURES, Told, answer_items, headline
from tidemark.report.rule import note
from tidemark.report.run_report import trials
from tidemark.report.run_report.course import course
from tidemark.report.run_report.load import Limits, limit_charts, limits_of
from tidemark.report.run_report.versions import MOST_CHARTS
from tidemark.report.samples_chart import Column, chart


def comparison(
    sides: Sides, functions: Sequence[Grown] = (), said: Sequence[Comment] = ()
) -> Report:
    """Return the comparison of two sides; the same stored runs give the same comparison.

    ``functions`` are what their profiles tell, and ``said`` is what people say of it.
    """
    pairs = list(sides.pairs())
    return Report(
        title=f"{sides.new.run.plan.suite.title}: {sides.new.name} against {sides.base.name}",
        summary=tuple(_summary(sides, pairs)),
        sections=(
            *sections_of_sides(said, sides),
            *_sections(sides, pairs, functions),
        ),
    )


def _summary(sides: Sides, pairs: Sequence[Pair]) -> Iterator[Block]:
    told, failures = [_told(pair, sides) for pair in pairs], _failed_trials(sides)
    found = headline(told, list(failures.values())) or "There is no metric to compare"
    yield " ".join((f"{found}.", *_unlike(sides)))
    # The headline tells of failed trials already.
    reasons = (each._replace(reason=_beside(each.reason, failures)) for each in told)
    if items := tuple(answer_items(reasons)):
        yield Bullets(items)
    if disagreeing := tuple(f"{sentence}." for sentence in beside_cpu_time(pairs)):
        yield Bullets(disagreeing)
    if step := next_step(sides):
        yield step
    yield " ".join(_counts(sides))


def _counts(sides: Sides) -> Iterator[str]:
    if sides.in_one_run:
        yield f"Run {sides.new.run.plan.run_id}."
    for side in sides.both:
        where = "" if sides.in_one_run else f", in run {side.run.plan.run_id}"
        yield f"{side.name}{where}: {trials.count(side.run)}"


def _sections(sides: Sides, pairs: Sequence[Pair], functions: Sequence[Grown]) -> Iterator[Section]:
    ordered = sorted(pairs, key=lambda pair: _told(pair, sides).place)
    yield Section("Results", tuple(results.blocks(sides, ordered)))
    if users := (*by_labels.supported_users(sides, pairs), *_over_users(sides)):
        yield Section("Supported users", users, evidence=True)
    if by := (*by_labels.axis_blocks(sides, pairs), *by_labels.blocks(sides, pairs)):
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
        own = [pair for pair in pairs if (pair.quantity.test, pair.quantity.axes) == (test, axes)]
        name = labelled_name(test, axes)
        # The section of supported users has the chart of the first limit.
        limits = dict(islice(_limits(sides, test).items(), 1, None))
        graphs = (*course(name, _groups(sides, test, axes), limits), *_charts(own, sides))
        yield Section(f"Graphs: {name}", graphs, details=True)


def _groups(sides: Sides, test: str, axes: Combination) -> list[Group]:
    return [Group(side.name, list(side.run.results(test, axes))) for side in sides.both]


def _over_users(sides: Sides) -> Iterator[Block]:
    """Yield the chart of each load's first limit over the users."""
    for test, axes in product(sides.tests(), sides.combinations()):
        first = dict(islice(_limits(sides, test).items(), 1))
        yield from limit_charts(labelled_name(test, axes), _groups(sides, test, axes), first)


def _limits(sides: Sides, name: str) -> Limits:
    """Return the limits of a test's load on the new side, or on the base if that alone has it."""
    tests = (test for side in (sides.new, sides.base) for test in side.tests)
    return limits_of(next(test for test in tests if test.name == name))


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
        return f"No chart of {pair.name}: {results.why_incomparable(pair, sides)}."
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
