"""The verdicts of a run until decided against its baseline, with both stages."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.figures.verdicts.rule import Judgement
from tidemark.figures.verdicts.sequential_run import deciding
from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.model.numerals import percent_change
from tidemark.report.blocks import Block, Row, Section, Table
from tidemark.report.run_report.measured import MeasuredRun

_BOTH_STAGES = (
    "New pairs alone had to confirm a first slower or faster: its verdict, change and interval are "
    "those of the new pairs. The run measured whole repetitions, and dropped a version when all "
    "its metrics were decided."
)


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield the section of a run until decided; a run of a fixed number has none."""
    if run.plan.request.until:
        yield Section("Verdicts against the baseline", tuple(_blocks(run)))


def _blocks(run: MeasuredRun) -> Iterator[Block]:
    baseline = run.plan.request.baseline or ""
    yield f"The run went on {run.plan.request.until_decided}. {_BOTH_STAGES}"
    yield Table(
        caption=f"Verdicts against {baseline}, with 95 % intervals",
        columns=("Version", "Metric", "First stage", "Confirmation", "Verdict"),
        rows=tuple(
            Row((version, quantity.name, *_stages(run.verdict(baseline, version, quantity))))
            for version in run.plan.compared
            for quantity in deciding(run.plan)
        ),
    )


def _stages(verdict: Verdict) -> tuple[str, str, str]:
    judgement = verdict.judgement
    told = f"{judgement.word}: {judgement.reason}" if judgement.reason else judgement.word
    if verdict.first is None:
        return _found(judgement), "none", told
    return _found(verdict.first), _found(judgement), told


def _found(judgement: Judgement) -> str:
    """Return a stage's verdict, pairs, change and interval."""
    text = f"{judgement.word} after {judgement.pairs} pairs"
    if judgement.effect is None or judgement.low is None or judgement.high is None:
        return text
    interval = f"{percent_change(judgement.low)} to {percent_change(judgement.high)}"
    return f"{text}: {percent_change(judgement.effect)} ({interval})"
