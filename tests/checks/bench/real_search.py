"""``python -m tests.checks.bench.real_search``: real searches for a slowdown in a known version.

The eleven versions of a search are one RocksDB, slowed by 15 % from one of them on, or from none.
The program makes the searches that ``.bench/slowed`` lacks, resumes one that was stopped, and
writes their table into docs/verdicts.md. The exit code is 1 if one does not find the truth. An
argument is the number of records.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from tests.checks.bench.slowed_rocksdb import FIRST_SLOWER, SEARCHED, SEARCHED_LOSS, searched
from tests.checks.bench.slowed_runs import FOLDER, StoredRun, seconds_of_trials, start, stored
from tests.checks.docs import write_part
from tidemark.figures.verdicts.bisection import Bisection
from tidemark.figures.verdicts.sequential_run import findings, settled, standing_of
from tidemark.model.numerals import decimal
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.model.sentences import listed

METRIC = "ingest_rate p90"
RECORDS = 50_000
MOST_COMPARISONS = 5
_HEAD = "| slowed | found | comparisons | repetitions | minutes |\n|---|---|--:|--:|--:|\n"


class Search(NamedTuple):
    """A search as far as its run has come."""

    number: int
    run: StoredRun

    @property
    def bisection(self) -> Bisection:
        """The findings so far."""
        plan = self.run.plan
        standing = settled(standing_of(plan, self.run.trials, NO_EXCLUSIONS), plan)
        return Bisection(searched(self.number), findings(standing, plan))

    @property
    def is_right(self) -> bool:
        """Whether the search found the truth in as few comparisons as it may take."""
        comparisons = len(self.bisection.findings)
        return self.found == truth(self.number) and comparisons <= MOST_COMPARISONS

    @property
    def found(self) -> str:
        """The end of the search."""
        bisection = self.bisection
        match bisection.suspects:
            case [first]:
                return f"from {first} on"
            case [] if bisection.findings.get(bisection.versions[-1]) == "same":
                return "none"
            case suspects:
                return f"cannot tell {listed(suspects or bisection.versions[-1:])}"

    @property
    def minutes(self) -> float:
        """The time of all trials, each in the median of its version [min]."""
        seconds = seconds_of_trials([self.run])
        return sum(seconds.get(trial.version, 0.0) for trial in self.run.trials) / 60

    @property
    def row(self) -> str:
        """The search as a row of a Markdown table."""
        repetitions = len({trial.repetition for trial in self.run.trials})
        cells = (
            truth(self.number),
            self.found if self.is_right else f"{self.found} **wrong**",
            str(len(self.bisection.findings)),
            str(repetitions),
            decimal(self.minutes, 1),
        )
        return f"| {' | '.join(cells)} |\n"


def truth(number: int) -> str:
    """Return the versions that a search has to find."""
    first = FIRST_SLOWER[number]
    return "none" if first is None else f"from {searched(number)[first]} on"


def searches(folder: Path, records: int) -> dict[int, Search]:
    """Return the searches of a folder by number."""
    return {
        number: Search(number, run)
        for run in stored(folder, SEARCHED)
        if run.records == records and run.plan.request.bisect
        for number in FIRST_SLOWER
        if run.plan.request.bisect.versions[0] == searched(number)[0]
    }


def search(folder: Path, number: int, records: int) -> None:
    """Make one search, or the rest of it."""
    found = searches(folder, records).get(number)
    if found is None:
        oldest, *_, newest = searched(number)
        options = ["--suite", SEARCHED, "--metric", METRIC, "--set", f"records={records}"]
        start(folder, "bisect", oldest, newest, *options)
    elif found.bisection.following:
        start(folder, "run", "--resume", found.run.plan.run_id)


def table(found: dict[int, Search], records: int) -> str:
    """Return the searches as a table."""
    rows = "".join(found[number].row for number in sorted(found))
    size = f"{records:,} records"
    return f"Trials of {size}, a slowdown of {SEARCHED_LOSS} %:\n\n{_HEAD}{rows}"


def main(records: int) -> int:
    """Search, write the table and return the exit code."""
    for number in FIRST_SLOWER:
        search(FOLDER, number, records)
    found = searches(FOLDER, records)
    text = table(found, records)
    print(text)
    write_part("verdicts.md", "searches", text)
    return int(not all(each.is_right for each in found.values()))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2] or [str(RECORDS)])))
