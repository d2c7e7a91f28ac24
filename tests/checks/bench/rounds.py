"""Runs in rounds of a RocksDB beside itself, slowed by known percentages.

``python -m tests.checks.bench.rounds measure ROUNDS`` measures as many rounds more, into
``.bench/rounds``. Without arguments the program prints how many runs answer right within a machine
minute, three and ten, and without a limit, and writes the table into docs/verdicts.md. Each run
takes the next rounds in the order in which they were measured, and ends as a run until decided
does. None of its rounds is in another run. Beside them is the mean change over all rounds, with its
95 % interval.
"""

from __future__ import annotations

import math
import re
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from onebox.logs.store import LogStore
from tests.checks.bench.commands import TIDEMARK
from tests.checks.bench.slowed_runs import StoredRun, stored
from tests.checks.bench.verdict_runs import CAP
from tests.checks.docs import write_part
from tidemark.figures.calibration import of_two, seconds_of_pair
from tidemark.figures.verdicts.intervals import PAIRED_T
from tidemark.figures.verdicts.pairs import Estimate, Pairs, differences
from tidemark.figures.verdicts.rule import SHOWN
from tidemark.figures.verdicts.sequential_metric import SequentialMetric
from tidemark.figures.verdicts.sequential_run import awaited, criteria
from tidemark.figures.verdicts.version_verdicts import rates_beside
from tidemark.figures.version_rates import Quantity
from tidemark.model.checkout import ROOT
from tidemark.model.plan import Plan
from tidemark.model.results import NO_EXCLUSIONS

FOLDER = ROOT / ".bench" / "rounds"
_MINUTES = (1, 3, 10)


class Measured(NamedTuple):
    """d of each round of one quantity and slowdown, in the order of time."""

    plan: Plan
    quantity: Quantity
    loss: int
    differences: Sequence[float]
    seconds: float
    """The time of a round of two versions [s]."""

    @property
    def rounds(self) -> Estimate:
        """The mean of d over all rounds, and its scatter."""
        return Pairs.of(self.differences).estimate

    def words(self, minutes: int | None) -> Iterator[str]:
        """Yield the answers of runs of some minutes each, one after the other."""
        rounds = max(1, math.floor(60 * minutes / self.seconds)) if minutes else CAP
        time_for = rounds if minutes else None
        rule = criteria(of_two(self.plan), self.quantity)._replace(time_for=time_for)
        # A run that is decided leaves its other rounds to the next one.
        course, taken = SequentialMetric(), 0
        for d in self.differences:
            course, taken = course.after(d, rule), taken + 1
            if course.is_decided or taken == rounds:
                last = rule._replace(is_over=not course.is_decided)
                yield course.judgement(last).word
                course, taken = SequentialMetric(), 0

    @property
    def right(self) -> str:
        """The right answer."""
        if not self.loss:
            return "same"
        return "slower"


def measure(rounds: int) -> None:
    """Measure rounds of the newest version beside itself."""
    command = [TIDEMARK, "calibrate", "rocksdb", "--repetitions", str(rounds)]
    subprocess.run([*command, "--state", str(FOLDER / "state")], check=True)


def measured(runs: Sequence[StoredRun]) -> Iterator[Measured]:
    """Yield each quantity that decides, and each slowdown, over the rounds of all runs."""
    last = runs[-1].plan
    seconds = sum(seconds_of_pair(run.plan, run.trials) for run in runs) / len(runs)
    for quantity in awaited(last):
        for version, loss in last.request.slowed.items():
            found = [d for run in runs for d in _differences(run, quantity, version)]
            yield Measured(last, quantity, loss, found, seconds)


def _differences(run: StoredRun, quantity: Quantity, version: str) -> Sequence[float]:
    base = run.plan.request.baseline or ""
    before, beside = rates_beside(run.trials, NO_EXCLUSIONS, quantity.key, base, version)
    return list(differences(before, beside).values())


FIGURES = {
    "ingest_engine_rate": re.compile(r"Engine ingested .* at (\S+) per second"),
    "ingest_cpu": re.compile(r"Engine used (\S+) CPU"),
    "compaction_rate": re.compile(r"compaction read .* at (\S+) per second"),
    "compaction_cpu": re.compile(r"compaction used (\S+) CPU"),
}
"""The figure in a line of each metric that decides."""


def first_beside_second(metric: str, streams: Iterable[Sequence[str]], names: set[str]) -> Estimate:
    """Return ln(first / second) of two equal versions in the blocks of each round, in the median.

    ``streams`` are the lines of the rounds, in their order.
    """
    found = []
    for lines in streams:
        blocks: defaultdict[int, list[float]] = defaultdict(list)
        slices: Counter[str] = Counter()
        for line in lines:
            name, figure = line.partition("] ")[0][1:], FIGURES[metric].search(line)
            if name in names and figure:
                blocks[slices[name]].append(math.log(float(figure[1])))
                slices[name] += 1
        if whole := [first - second for first, second in filter(_is_pair, blocks.values())]:
            found.append(statistics.median(whole))
    return Pairs.of(found).estimate


def _is_pair(block: Sequence[float]) -> bool:
    return len(block) == 2


def order_table(runs: Sequence[StoredRun], folder: Path) -> Iterator[str]:
    """Yield the lines of a table of the first of two equal versions beside the second."""
    plan = runs[-1].plan
    alike = [name for name, loss in plan.request.slowed.items() if not loss]
    names, store = {plan.request.baseline or "", *alike}, LogStore(folder / "state" / "logs")
    group = "/Tidemark/rocksdb"
    streams = [[event.message for event in store.read(group, s)] for s in store.streams(group)]
    yield "| metric | rounds | first against second in its block [%] |"
    yield "|---|--:|--:|"
    for metric in FIGURES:
        found = first_beside_second(metric, streams, names)
        yield f"| {metric} | {found.count} | {_change(found)} |"


def _change(found: Estimate) -> str:
    half = PAIRED_T.shown(found, SHOWN)
    return f"{100 * math.expm1(found.mean):+.1f} ± {100 * half:.1f}"


def table(measured: Sequence[Measured]) -> Iterator[str]:
    """Yield the lines of a table of right and wrong answers."""
    columns = [f"{minutes} min: right, wrong, of runs" for minutes in _MINUTES]
    columns.append("until decided: right, wrong, of runs")
    yield f"| metric | slowed by | rounds | scatter | change [%] | {' | '.join(columns)} |"
    yield f"|---|--:|--:|--:|--:|{'--:|' * len(columns)}"
    for each in measured:
        cells = [_cell(each, Counter(each.words(minutes))) for minutes in (*_MINUTES, None)]
        found = each.rounds
        cells[:0] = [str(found.count), f"{found.deviation:.3f}", _change(found)]
        yield f"| {each.quantity.name} | {each.loss} % | {' | '.join(cells)} |"


def _cell(measured: Measured, words: Counter[str]) -> str:
    right = words[measured.right]
    wrong = sum(words[word] for word in ("same", "slower", "faster")) - right
    return f"{right}, {wrong}, {words.total()}"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", rounds]:
            measure(int(rounds))
        case []:
            runs = [run for run in stored(FOLDER, "rocksdb") if run.plan.request.slowed]
            if not runs:
                sys.exit(__doc__)
            found = list(measured(runs))
            lines = [f"A round of two versions took {found[0].seconds:.0f} s.", "", *table(found)]
            lines += ["", *order_table(runs, FOLDER)]
            print("\n".join(lines))
            write_part("verdicts.md", "real rounds", "\n".join(["", *lines, "", ""]))
        case _:
            sys.exit(__doc__)
