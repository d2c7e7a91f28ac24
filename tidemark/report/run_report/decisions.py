"""The verdicts of a run until decided, and the path of a search for the first slower version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tidemark.figures.verdicts.bisection import MISLED, Bisection, Finding
from tidemark.figures.verdicts.rule import ALARM, Judgement
from tidemark.figures.verdicts.sequential_run import (
    SequentialRun,
    awaited,
    closed,
    deciding,
    findings,
    judged,
    standing_of,
    why_untold,
)
from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.figures.version_rates import Quantity
from tidemark.model.numerals import bound, change, interval, percent_change, percent_places
from tidemark.model.plan import Plan
from tidemark.model.run_spec import Search
from tidemark.model.sentences import listed
from tidemark.report.advice import after_search
from tidemark.report.blocks import Block, Command, Row, Section, Table
from tidemark.report.run_report.measured import MeasuredRun

_CHANCES = (
    "New pairs confirm the change of the newest version alone. "
    f"At most {bound(ALARM)} of searches name another version than the first slower one, and up to "
    f"{bound(MISLED)} if each repetition resembles the one before."
)


class Comparison(NamedTuple):
    """A comparison of a version with the base, by the metric of the search."""

    version: str
    verdict: Finding
    """The verdict on the newest version; of one between, the end that it is nearer to."""
    reason: str
    """The reason for ``cannot tell``, '' for other verdicts."""
    pairs: int
    """The pairs that the verdict is from; a confirmation has pairs of its own."""
    effect: float | None
    low: float | None
    high: float | None
    """The change, and its interval with a confidence of 95 %; None without them."""


class SearchPath(NamedTuple):
    """The path and the end of a search: ``search.json`` beside the report of its run."""

    metric: str
    base: str
    path: tuple[Comparison, ...]
    """The comparisons in the order in which the run made them."""
    first_slower: str | None
    """The first slower version; None if the search did not find it."""
    is_conclusive: bool
    """Whether the search found it, or found that the newest version is not slower."""
    sentence: str
    """The end of the search in words."""

    def json(self) -> str:
        """Return the content of ``search.json``."""
        path = [comparison._asdict() for comparison in self.path]
        return json.dumps({**self._asdict(), "path": path})


def search_path(run: MeasuredRun, search: Search) -> SearchPath:
    """Return the path of a search, as far as its run has come."""
    base = search.versions[0]
    standing = closed(standing_of(run.plan, run.trials, run.exclusions), run.plan)
    found = findings(standing, run.plan)
    suspects = Bisection(search.versions, found).suspects
    is_found = len(suspects) == 1
    path = tuple(
        _comparison(standing, run.plan, version, found.get(version, "cannot tell"))
        for version in run.plan.request.versions[1:]
    )
    (quantity,) = awaited(run.plan)
    sizes = {each.version: _size(each, quantity) for each in path}
    return SearchPath(
        metric=search.metric,
        base=base,
        path=path,
        first_slower=suspects[0] if is_found else None,
        is_conclusive=is_found or found.get(search.versions[-1]) in ("same", "faster"),
        sentence=f"By {search.metric} {_end(search.versions, found, sizes)}.",
    )


def summary(run: MeasuredRun, search: Search) -> Iterator[str | Command]:
    """Yield the end of a search, and how to go on from the version that it found."""
    found = search_path(run, search)
    yield found.sentence
    if found.first_slower:
        before = search.versions[search.versions.index(found.first_slower) - 1]
        yield after_search(run, before, found.first_slower)


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield the section of a search; any other run has none."""
    if run.plan.request.bisect:
        found = search_path(run, run.plan.request.bisect)
        yield Section(f"First version slower than {found.base}", (_table(found), _CHANCES))


def _table(found: SearchPath) -> Table:
    return Table(
        caption=f"Comparisons with {found.base} by {found.metric}, in the order of the search",
        columns=("Version", "Verdict", "Pairs", "Change", "95 % interval"),
        rows=tuple(Row(_cells(each)) for each in found.path),
        numbers=frozenset({"Pairs"}),
    )


def _cells(each: Comparison) -> tuple[str, ...]:
    verdict = f"{each.verdict}: {each.reason}" if each.reason else each.verdict
    if each.effect is None or each.low is None or each.high is None:
        return each.version, verdict, str(each.pairs), "none", "none"
    interval = f"{percent_change(each.low)} to {percent_change(each.high)}"
    return each.version, verdict, str(each.pairs), percent_change(each.effect), interval


def _comparison(standing: SequentialRun, plan: Plan, version: str, found: Finding) -> Comparison:
    (quantity,) = awaited(plan)
    judgement = judged(standing, plan, version, quantity)
    return Comparison(
        version=version,
        verdict=found,
        reason=why_untold(standing, plan, version, quantity) if found == "cannot tell" else "",
        pairs=judgement.pairs,
        effect=judgement.effect,
        low=judgement.low,
        high=judgement.high,
    )


def _size(each: Comparison, quantity: Quantity) -> str:
    """Return the size of a change with its interval in brackets, '' without one."""
    if each.effect is None or each.low is None or each.high is None:
        return ""
    places = percent_places(each.low, each.high)
    size = change(each.effect, quantity.metric, places)
    return f" ({size}, 95 % interval {interval(each, quantity.metric, places)})"


def _end(versions: tuple[str, ...], found: Mapping[str, Finding], sizes: Mapping[str, str]) -> str:
    """Return the end of a search as the rest of a sentence, with the sizes of the changes."""
    base, new = versions[0], versions[-1]
    suspects = Bisection(versions, found).suspects
    if len(suspects) == 1:
        before = versions[versions.index(suspects[0]) - 1]
        text = f"{suspects[0]} is the first version slower than {base}{sizes[suspects[0]]}"
        return text if before == base else f"{text}; {before} is nearer to {base} than to {new}"
    if suspects:
        text = f"one of {listed(suspects)} is the first version slower than {base}"
        return f"{text}, and the trials cannot tell which; {new} is slower{sizes[new]}"
    if found.get(new, "cannot tell") == "cannot tell":
        return f"the trials cannot tell {new} from {base}{sizes.get(new, '')}"
    return f"{new} is not slower than {base}{sizes[new]}"


_BOTH_STAGES = (
    "New pairs alone had to confirm a first slower or faster: its verdict, change and interval "
    "come from the new pairs. The run measured whole repetitions, and dropped a version when all "
    "its metrics were decided."
)


def verdict_sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield the section of a run until decided; a run of a fixed number has none."""
    if run.plan.request.until:
        yield Section("Verdicts against the baseline", tuple(_verdict_blocks(run)))


def _verdict_blocks(run: MeasuredRun) -> Iterator[Block]:
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
