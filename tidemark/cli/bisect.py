"""``tidemark bisect``: the first version between two that is slower than the older one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import click
from rich.console import Console

from tidemark.cli.attended_run import cloud_at, intention, measure, preflight
from tidemark.cli.gate import compared
from tidemark.cli.set_option import parsed, records_option, set_option, split, tasks_option
from tidemark.cli.target import Target, target_options
from tidemark.cli.written_suites import suites
from tidemark.client.deployed import Deployed
from tidemark.client.tables import ask_saved
from tidemark.figures.verdicts.first_slower import Bisection
from tidemark.figures.verdicts.rule import Word
from tidemark.model.context import default_suite
from tidemark.model.labels import figure_name
from tidemark.model.refusal import Refused
from tidemark.model.request import (
    LONGEST_NOTE,
    check_one_machine,
    known_suite,
    resolve_request,
)
from tidemark.model.sentences import listed, shortened
from tidemark.model.suite import Suite
from tidemark.model.version_order import version_order
from tidemark.report.comparison.pipelines import CANNOT_TELL


@click.command(name="bisect")
@click.argument("base")
@click.argument("new")
@click.option("--metric", required=True, metavar="NAME", help="Metric that has become slower.")
@click.option(
    "--suite", default=default_suite, show_default="rocksdb", help="The system under test."
)
@click.option("--repetitions", type=int, help="Most repetitions of a comparison; if not given 100.")
@click.option(
    "--resume", is_flag=True, help="Take the comparisons that an earlier search has made."
)
@set_option
@tasks_option
@records_option
@target_options
def command(
    base: str,
    new: str,
    metric: str,
    suite: str,
    repetitions: int | None,
    resume: bool,
    settings: tuple[str, ...],
    tasks: int | None,
    records: int | None,
    target: Target,
) -> None:
    """Find the first version after BASE, up to NEW, that is slower.

    Each comparison is a run until decided of BASE and one version: first NEW, then the version in
    the middle of those that are left. The search ends at a version that the trials
    cannot tell from BASE. The note of each run has the comparisons before it.

    Exit code 0 if the first slower version is found or NEW is not slower, 1 if a run fails or is
    stopped, 2 if the input is refused, 4 if the trials cannot tell.

    \b
    Example:
      tidemark bisect 8.8.1 9.8.4 --metric ingest_rate
    """
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    system = known_suite(suite, suites())
    check_metric(system, metric)
    if target.stack is None:
        check_one_machine(system)
    options = {
        "repetitions": repetitions,
        "parameters": parsed(split(settings), system) or None,
        "tasks": tasks,
        "records": records,
    }
    given = {name: value for name, value in options.items() if value is not None}
    versions = versions_between(system, base, new)
    with cloud_at(target, console) as cloud:
        search = Search(system, versions, metric, given, cloud)
        if resume:
            search.take_earlier()
        sys.exit(search.run(target, console))


def versions_between(suite: Suite, base: str, new: str) -> list[str]:
    """Return the versions of a suite from BASE to NEW, in ascending order."""
    for side, version in (("BASE", base), ("NEW", new)):
        if version not in suite.subject.versions:
            there_are = f"there are {listed(suite.subject.versions) or 'none'}"
            raise Refused(f"{side}: {suite.name} lists no {version}; {there_are}")
    first, last = version_order(base), version_order(new)
    if first >= last:
        raise Refused(f"NEW: {new} does not follow {base}; expected a newer version")
    known = sorted(suite.subject.versions, key=version_order)
    return [version for version in known if first <= version_order(version) <= last]


def check_metric(suite: Suite, name: str) -> None:
    """Refuse a metric that does not decide a run or is not of one test, or a suite with axes."""
    if suite.axes:
        raise Refused(f"SUITE: {suite.name} varies {listed(suite.axes)}, which bisect does not")
    names = [
        figure_name(metric.name, statistic, "")
        for test in suite.tests
        for metric, statistic in test.figures()
        if metric.decides
    ]
    if name not in names:
        there_are = f"there are {listed(names) or 'none'}"
        raise Refused(f"--metric: no {name} decides a run of {suite.name}; {there_are}")
    if names.count(name) > 1:
        raise Refused(f"--metric: several tests of {suite.name} have {name}; expected that of one")


@dataclass
class Search:
    """A search whose comparisons are runs of one cloud."""

    suite: Suite
    versions: list[str]
    metric: str
    given: Mapping[str, Any]
    """The fields of every run's input that the user gave."""
    cloud: Deployed
    words: dict[str, Word] = field(default_factory=dict)
    unfinished: dict[str, str] = field(default_factory=dict)
    """The runs of versions that an earlier search began to compare."""

    @property
    def mark(self) -> str:
        """The beginning of the notes of the search's runs."""
        return f"bisect {self.versions[0]} to {self.versions[-1]} by {self.metric}"

    def fields(self, version: str) -> dict[str, Any]:
        """Return the input of the run that compares a version."""
        path = [self._told(each) for each in self.words]
        return {
            "suite": self.suite.name,
            "versions": [self.versions[0], version],
            "baseline": self.versions[0],
            "until": "decided",
            **self.given,
            "note": shortened("; ".join([self.mark, *path]), LONGEST_NOTE),
            "trigger": "cli",
        }

    def take_earlier(self) -> None:
        """Take the newest comparison of each version by earlier searches for the same."""
        rows = ask_saved(self.cloud.tables, "run_health", {"suite": self.suite.name}).records()
        for row in rows:
            if (row["note"] or "").split(";")[0] == self.mark:
                self._take(row["run_id"] or "", row["status"] or "")

    def _take(self, run_id: str, status: str) -> None:
        plan = self.cloud.results.plan(run_id)
        if plan is None or len(plan.compared) != 1:  # anybody may write such a note
            return
        (version,) = plan.compared
        like = resolve_request(self.fields(version), {self.suite.name: self.suite})
        is_alike = (plan.request.parameters, plan.request.repetitions) == (
            like.parameters,
            like.repetitions,
        )
        if is_alike and version not in {*self.words, *self.unfinished}:
            if status == "complete":
                self.words[version] = self._word(run_id, version)
            else:
                self.unfinished[version] = run_id

    def run(self, target: Target, console: Console) -> int:
        """Compare version after version to the end of the search; return the exit code."""
        for each in self.words:
            console.print(f"Compared before: {self._told(each)}.")
        following = Bisection(self.versions, self.words).following
        while following:
            if code := self._compare(following, target, console):
                console.print("The search is not over; --resume goes on with it.")
                return code
            console.print(f"By {self.metric} {self._told(following)}.")
            following = Bisection(self.versions, self.words).following
        sentence, code = conclusion(self.versions, self.words)
        console.print(f"By {self.metric} {sentence}.", soft_wrap=True)
        return code

    def _told(self, version: str) -> str:
        base = self.versions[0]
        match self.words[version]:
            case "slower":
                return f"{version} is slower than {base}"
            case "cannot tell":
                return f"the trials cannot tell {version} from {base}"
        return f"{version} is not slower than {base}"

    def _compare(self, version: str, target: Target, console: Console) -> int:
        fields = self.fields(version)
        request = resolve_request(fields, {self.suite.name: self.suite})
        console.print(intention(listed(request.versions), request, self.suite, target))
        preflight(request, self.suite, target, console)
        if begun := self.unfinished.get(version):
            fields = {"suite": self.suite.name, "run": begun, "trigger": "cli"}
        run = self.cloud.runs.start(fields)
        code = measure(self.cloud.runs, run, target, console)
        if not code:
            self.words[version] = self._word(run.run_id, version)
        return code

    def _word(self, run_id: str, version: str) -> Word:
        plan = self.cloud.results.plan(run_id)
        assert plan, "a run that has ended has a plan"
        document = compared(self.cloud, plan, self.versions[0], version)
        words = {metric.name: metric.verdict for metric in document.metrics}
        word = words.get(self.metric, "not comparable")
        return "cannot tell" if word == "not comparable" else word


def conclusion(versions: list[str], words: Mapping[str, Word]) -> tuple[str, int]:
    """Return the end of a search as the beginning of a sentence, and the exit code."""
    base, new = versions[0], versions[-1]
    suspects = Bisection(versions, words).suspects
    if len(suspects) == 1:
        before = versions[versions.index(suspects[0]) - 1]
        found = f"{suspects[0]} is the first slower version"
        return found if before == base else f"{found}; {before} is not slower than {base}", 0
    if suspects:
        text = f"one of {listed(suspects)} is the first slower version, and the trials cannot tell"
        return f"{text} which", CANNOT_TELL
    if words[new] == "cannot tell":
        return f"the trials cannot tell {new} from {base}", CANNOT_TELL
    return f"{new} is not slower than {base}", 0
