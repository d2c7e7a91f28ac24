"""The comparison for programs: a document, JUnit XML, annotations of GitHub and exit codes."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Literal
from xml.etree import ElementTree

from tidemark.figures.spread import Word
from tidemark.model.base import Frozen
from tidemark.model.comment import Comment
from tidemark.model.numerals import NONE, change, interval
from tidemark.report.comments import outdated_quotes, with_figures
from tidemark.report.comparison.sides import Pair, Reading, Side, Sides, why_incomparable
from tidemark.report.marks import qualified
from tidemark.report.rule import confirmation


class ComparedSide(Frozen):
    """One side of a comparison."""

    run_id: str
    """The run."""
    version: str
    """The version of the run."""


class ComparedMetric(Frozen):
    """One metric of both sides."""

    test: str
    """The test of the suite."""
    name: str
    """The metric with its statistic and labels, as reports name it."""
    unit: str
    """The unit of the means."""
    direction: Literal["higher", "lower"]
    """The better direction."""
    verdict: Literal["slower", "faster", "same", "cannot tell", "not comparable"]
    """The verdict on the new side; ``not comparable`` if a side has no rate."""
    reason: str
    """The reason for ``cannot tell`` and ``not comparable``, empty for other verdicts."""
    decides: bool
    """Whether the metric decides the exit code of `--fail-on`; its suite says so."""
    base_mean: float | None
    """The mean of the base's trials."""
    new_mean: float | None
    """The mean of the new side's trials."""
    change: float | None
    """(new − base) / base of the means: 0.1 is 10 % more."""
    effect: float | None
    """The change that pages show: of the geometric mean over the pairs, 0.1 is 10 % more."""
    low: float | None
    """The lower end of the 95 % interval of the effect."""
    high: float | None
    """The upper end of the 95 % interval of the effect."""
    method: str
    """The method of the verdict, empty if there is nothing to compare."""
    pairs: int
    """The number of pairs of trials; a confirmation counts the new pairs alone."""
    stage: Literal["first", "confirmed"]
    """`confirmed` if new pairs had to confirm a first `slower` or `faster`."""
    more_pairs: int | None
    """The pairs still needed for a verdict; null if there is one, or if no run may have them."""
    detectable: float | None
    """The change that as many pairs find in four cases of five."""
    outliers: tuple[int, ...]
    """The repetitions whose pairs lie far from all others and do not count."""
    odd: int | None
    """The repetition whose pair scatters most, if that is why nothing can be told; else null."""
    steadiness: Word | None = None
    """Whether the trials of the new side scatter more or less; null if that is not certain."""


class SaidComment(Frozen):
    """A comment of somebody on the comparison, or on the run that measured both sides."""

    title: str
    """The title."""
    author: str
    """The author."""
    day: date
    """The day."""
    text: str
    """The text in Markdown, with its quoted figures as they were written."""
    outdated: tuple[str, ...]
    """Sentences on the quoted figures that no longer hold."""


class ComparisonDocument(Frozen):
    """A comparison."""

    schema_version: Literal[1] = 1
    """The version of this form; a field is only ever added without a new version."""
    suite: str
    """The suite of both sides."""
    base: ComparedSide
    """The base: an object with `run_id` and `version`."""
    new: ComparedSide
    """The new side: an object with `run_id` and `version`."""
    unlike_machines: bool = False
    """Whether the machines of both sides differ: they change rates as a version does."""
    cpu_time: tuple[str, ...] = ()
    """Sentences on rates that have another verdict than the CPU time of the same test."""
    comments: tuple[SaidComment, ...] = ()
    """The comments of people, the oldest first, as objects with the fields below."""
    metrics: tuple[ComparedMetric, ...]
    """The metrics that either side has, as objects with the fields below."""


def document(sides: Sides, said: Sequence[Comment] = ()) -> ComparisonDocument:
    """Return the document of a comparison, with what people say of it."""
    return ComparisonDocument(
        suite=sides.new.run.plan.suite.name,
        base=_side(sides.base),
        new=_side(sides.new),
        unlike_machines=sides.unlike_machines,
        cpu_time=tuple(beside_cpu_time(sides.pairs)),
        comments=tuple(
            SaidComment(
                title=comment.title,
                author=comment.author,
                day=comment.day,
                text=comment.text,
                outdated=tuple(outdated_quotes(comment, figures).values()),
            )
            for comment, figures in with_figures(said, sides)
        ),
        metrics=tuple(_metric(pair, sides) for pair in sides.pairs),
    )


def beside_cpu_time(pairs: Iterable[Pair]) -> Iterator[str]:
    """Yield a sentence on each rate whose verdict differs from the verdict on its test's CPU time.

    Both decide, and have the same labels.
    """
    judged = [pair for pair in pairs if pair.verdict and pair.metric.decides]
    for cpu in judged:
        if not cpu.metric.is_cpu_time or not (cpu_word := _told(cpu)):
            continue
        for rate in judged:
            beside = (rate.quantity.test, rate.quantity.labels)
            if beside != (cpu.quantity.test, cpu.quantity.labels) or rate.metric.is_cpu_time:
                continue
            effect = change(cpu.effect, cpu.metric, cpu.places)
            if not (word := _told(rate)):
                yield f"{rate.name} cannot tell, and CPU time can: {cpu.name} {effect}, {cpu_word}"
            elif word != cpu_word:
                yield (
                    f"{rate.name} is {word}, and its CPU time {cpu_word} ({cpu.name} {effect}): "
                    "what changed is not the CPU's work alone"
                )


def _told(pair: Pair) -> str:
    """Return the verdict of a pair in a sentence, '' if it cannot tell."""
    word = pair.verdict.judgement.word if pair.verdict else "cannot tell"
    return {"cannot tell": "", "same": "the same"}.get(word, word)


def _side(side: Side) -> ComparedSide:
    return ComparedSide(run_id=side.run.plan.run_id, version=side.version)


def _metric(pair: Pair, sides: Sides) -> ComparedMetric:
    verdict = pair.verdict
    judgement = verdict.judgement if verdict else None
    return ComparedMetric(
        test=pair.quantity.test,
        name=pair.quantity.name_in_test,
        unit=pair.metric.unit,
        direction=pair.metric.direction,
        verdict=judgement.word if judgement else "not comparable",
        reason=judgement.reason if judgement else why_incomparable(pair, sides),
        decides=pair.metric.decides,
        base_mean=_mean(pair.base),
        new_mean=_mean(pair.new),
        change=verdict.change if verdict else None,
        effect=judgement.effect if judgement else None,
        low=judgement.low if judgement else None,
        high=judgement.high if judgement else None,
        method=judgement.method if judgement else "",
        pairs=judgement.pairs if judgement else 0,
        stage=verdict.stage if verdict else "first",
        more_pairs=verdict.more_pairs if verdict else None,
        detectable=verdict.detectable if verdict else None,
        outliers=verdict.outliers if verdict else (),
        odd=verdict.odd if verdict else None,
        steadiness=verdict.spread.word if verdict and verdict.spread else None,
    )


def _mean(reading: Reading | None) -> float | None:
    return reading.rate.value if reading else None


SLOWER, CANNOT_TELL = 3, 4
"""The exit codes if a metric that decides is slower, and if none is and some cannot be told."""
_UNTOLD = ("cannot tell", "not comparable")


def exit_code(documents: Iterable[ComparisonDocument]) -> int:
    """Return the exit code of ``--fail-on slower`` for some comparisons."""
    words = {each.verdict for one in documents for each in one.metrics if each.decides}
    if "slower" in words:
        return SLOWER
    return CANNOT_TELL if words & {*_UNTOLD} or not words else 0


def sentence(metric: ComparedMetric, document: ComparisonDocument) -> str:
    """Return the verdict on a metric with its figures."""
    name = _full_name(metric, document)
    if metric.verdict == "not comparable":
        return f"{name} cannot be compared: {metric.reason}"
    size = "" if metric.effect is None else f", {change(metric.effect, metric)}"
    within = interval(metric, metric)
    ends = "" if within == NONE else f", 95 % interval {within}"
    why = metric.reason or confirmation(metric.verdict, metric.stage, metric.pairs)
    reason = f" ({why})" if why else ""
    versions = f"{document.new.version} against {document.base.version}"
    word = qualified(metric.verdict, unlike=document.unlike_machines)
    return f"{name}: {word}{reason}, {versions}{size}{ends}"


def _full_name(metric: ComparedMetric, document: ComparisonDocument) -> str:
    """Return the name of a metric, behind its test's if several tests have one of that name."""
    tests = {each.test for each in document.metrics if each.name == metric.name}
    return f"{metric.test}: {metric.name}" if len(tests) > 1 else metric.name


def junit(document: ComparisonDocument) -> str:
    """Return a test suite as JUnit XML: slower is a failure, what cannot be told is skipped."""
    name = f"{document.suite} {document.new.version} against {document.base.version}"
    words = [metric.verdict for metric in document.metrics]
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(words)),
        failures=str(words.count("slower")),
        skipped=str(sum(word in _UNTOLD for word in words)),
    )
    for metric in document.metrics:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"{document.suite}.{metric.test}", name=metric.name
        )
        outcome = "failure" if metric.verdict == "slower" else "skipped"
        if metric.verdict == "slower" or metric.verdict in _UNTOLD:
            ElementTree.SubElement(case, outcome, message=sentence(metric, document))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def workflow_commands(document: ComparisonDocument) -> str:
    """Return a workflow command of GitHub Actions for each metric.

    Source: GitHub Docs, Workflow commands for GitHub Actions; toolkit, packages/core, command.ts.
    """
    return "".join(_workflow_commands(document))


def _workflow_commands(document: ComparisonDocument) -> Iterator[str]:
    for metric in document.metrics:
        untold = "warning" if metric.verdict in _UNTOLD else "notice"
        level = "error" if metric.verdict == "slower" else untold
        title = _escaped(f"{document.suite} {_full_name(metric, document)}")
        title = title.replace(":", "%3A").replace(",", "%2C")
        yield f"::{level} title={title}::{_escaped(sentence(metric, document))}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
