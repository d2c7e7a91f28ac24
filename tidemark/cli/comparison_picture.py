"""The chart of a comparison as a picture."""

from __future__ import annotations

from tidemark.model.refusal import Refused
from tidemark.report.comparison.changes_chart import MOST, Change, specification
from tidemark.report.comparison.document import ComparedMetric, ComparisonDocument
from tidemark.report.marks import marked, qualified


def changes_picture(document: ComparisonDocument, form: str) -> bytes:
    """Return the chart of the first ``MOST`` changes as a picture, with the verdicts in words.

    The title says how many metrics there are if the chart has not all of them.
    """
    # The import takes time, which a text does not need.
    from tidemark.pages.pictures import picture  # noqa: PLC0415

    unlike = document.unlike_machines
    changes = [_change(each, unlike) for each in document.metrics if each.effect is not None][:MOST]
    if not changes:
        raise Refused("--output: no metric of both versions has a change to draw")
    title = f"{document.suite}: {document.new.version} against {document.base.version}"
    metrics = len(document.metrics)
    part = f", {len(changes)} of {metrics} metrics" if len(changes) < metrics else ""
    return picture([specification(changes)], f"{title}, 95 % intervals{part}", form)


def _change(metric: ComparedMetric, unlike: bool) -> Change:
    assert metric.effect is not None
    word = qualified(metric.verdict, unlike=unlike)
    return Change(
        title=f"{metric.test}: {metric.name}   {marked(word)}",
        unit=metric.unit,
        direction=metric.direction,
        verdict=word,
        effect=metric.effect,
        low=metric.low,
        high=metric.high,
    )
