"""The forms of a comparison for pipelines: exit codes, JUnit XML and annotations of GitHub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from tidemark.model.numerals import NONE, change, interval
from tidemark.report.comparison.document import ComparedMetric, ComparisonDocument
from tidemark.report.marks import qualified
from tidemark.report.rule import confirmation

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
    name = _name(metric, document)
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


def _name(metric: ComparedMetric, document: ComparisonDocument) -> str:
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
        title = _escaped(f"{document.suite} {_name(metric, document)}")
        title = title.replace(":", "%3A").replace(",", "%2C")
        yield f"::{level} title={title}::{_escaped(sentence(metric, document))}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
