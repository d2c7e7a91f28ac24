"""The tables of docs/verdicts.md on verdicts of real runs, from the stored trials."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from tests.checks.bench.drawn_verdicts import (
    METRICS,
    PLANNED,
    RULES,
    RUNS,
    Differences,
    Rates,
    Shares,
    differences,
    repetitions,
    shares,
)
from tests.checks.bench.slowed_rocksdb import BASE, LOSSES, slowed
from tests.checks.bench.slowed_runs import StoredRun, seconds_of_trials
from tidemark.figures.verdicts.pairs import Pairs
from tidemark.figures.verdicts.rule import judge
from tidemark.model.numerals import decimal, percent


class Length(NamedTuple):
    """The repetitions of one length of trials."""

    records: int
    measured: Sequence[Rates]
    seconds: dict[str, float]
    """The time that a trial of a version takes [s]."""

    def pairs(self, loss: int) -> list[Differences]:
        """Return d of each repetition of a slowed version."""
        return differences(self.measured, slowed(loss))

    def minutes(self, loss: int) -> float:
        """Return the time that a repetition of the base and a slowed version takes [min]."""
        return (self.seconds[BASE] + self.seconds[slowed(loss)]) / 60


class Cell(NamedTuple):
    """The figures of one rule at one length and slowdown."""

    records: int
    loss: int
    rule: str
    shares: Shares
    minutes: float
    """The mean time of a run [min]."""

    @property
    def minutes_each(self) -> float:
        """The time for one right verdict [min]: more if some runs end without one."""
        return self.minutes / self.shares.right if self.shares.right else math.inf

    @property
    def row(self) -> str:
        """The figures as a row of a Markdown table."""
        found = self.shares
        told = [percent(share, 1) for share in (found.right, found.wrong, found.untold)]
        spent = [decimal(found.repetitions, 1), decimal(self.minutes, 1), _minutes(self)]
        return _row(f"{self.loss} %", self.rule, *told, *spent)


def lengths(runs: Sequence[StoredRun]) -> list[Length]:
    """Return the lengths with a whole stored repetition, the shortest first."""
    ordered = sorted(runs, key=attrgetter("records"))
    groups = ((records, list(same)) for records, same in groupby(ordered, attrgetter("records")))
    found = [
        Length(records, repetitions(same), dict(seconds_of_trials(same)))
        for records, same in groups
    ]
    return [length for length in found if len(length.measured) > 1]


def cells(measured: Sequence[Length], runs: int = RUNS) -> list[Cell]:
    """Return the figures of all lengths, slowdowns and rules."""
    return [
        Cell(
            length.records,
            loss,
            rule,
            found := shares(RULES[rule], loss, length.pairs(loss), runs),
            found.repetitions * length.minutes(loss),
        )
        for length in measured
        for loss in LOSSES
        for rule in RULES
    ]


def tables(measured: Sequence[Length], found: Sequence[Cell], runs: int = RUNS) -> Iterator[str]:
    """Yield the lines of all tables."""
    sizes = ", ".join(f"{len(each.measured)} of {each.records:,} records" for each in measured)
    yield f"Repetitions measured: {sizes}. Each case below has {runs:,} drawn runs.\n"
    yield from _knob(measured)
    yield from _soonest(found)
    for records, same in groupby(found, attrgetter("records")):
        yield f"\n### Trials of {records:,} records\n\n"
        yield from _head(
            "slowdown", "rule", "right", "wrong", "cannot tell", "repetitions", "minutes",
            "minutes for a right verdict", texts=2,
        )  # fmt: skip
        yield from (cell.row for cell in same)


def _knob(measured: Sequence[Length]) -> Iterator[str]:
    """Yield the measured change beside the injected one, with its verdict by a fixed plan."""
    yield "\n### The slowdowns as measured\n\n"
    columns = ("records", "metric", "verdict", "injected", "measured", "95 % interval", "sd of d")
    yield from _head(*columns, texts=3)
    for length in measured:
        for place, metric in enumerate(METRICS):
            for loss in LOSSES:
                pairs = Pairs.of([each[place] for each in length.pairs(loss)])
                yield _row(f"{length.records:,}", metric, *_judged(pairs, loss))


def _judged(pairs: Pairs, loss: int) -> Iterator[str]:
    found = judge(pairs, PLANNED)
    yield found.word
    yield percent(-loss / 100, 0)
    yield percent(found.effect or 0, 1)
    yield f"{percent(found.low or 0, 1)} to {percent(found.high or 0, 1)}"
    yield decimal(pairs.estimate.deviation, 3)


def _soonest(found: Sequence[Cell]) -> Iterator[str]:
    """Yield the minutes for a right verdict by length, the fewest of each slowdown in bold."""
    adaptive = [cell for cell in found if cell.rule == "until decided"]
    least = {
        loss: min(cell.minutes_each for cell in adaptive if cell.loss == loss) for loss in LOSSES
    }
    yield "\n### Minutes for a right verdict, until decided\n\n"
    yield from _head("records", *(f"{loss} % slower" for loss in LOSSES), texts=1)
    for records, same in groupby(adaptive, attrgetter("records")):
        yield _row(
            f"{records:,}",
            *(_marked(cell, least[cell.loss]) for cell in same),
        )


def _marked(cell: Cell, least: float) -> str:
    text = _minutes(cell)
    return f"**{text}**" if cell.minutes_each == least < math.inf else text


def _minutes(cell: Cell) -> str:
    return "none right" if math.isinf(cell.minutes_each) else decimal(cell.minutes_each, 1)


def _head(*names: str, texts: int) -> Iterator[str]:
    """Yield the head of a table whose first columns are texts and the others numbers."""
    yield _row(*names)
    yield f"|{'---|' * texts}{'--:|' * (len(names) - texts)}\n"


def _row(*values: str) -> str:
    return f"| {' | '.join(values)} |\n"
