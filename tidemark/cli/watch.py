"""``tidemark watch``: each new release measured, and a slower one searched for and profiled."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console

from tidemark.cli.attended_run import check_target, cloud_at, intention, measure, preflight
from tidemark.cli.chosen_suite import written_suite
from tidemark.cli.options import NumberType, fail_on_option
from tidemark.cli.profile.options import profiled_trials, profiles_by_version
from tidemark.cli.run import compared
from tidemark.cli.saving import save
from tidemark.cli.set_option import resolved
from tidemark.cli.target import Target, target_options
from tidemark.client.deployed import Deployed
from tidemark.client.releases import PYPI, releases
from tidemark.figures.profiles.growth import Comparison, FunctionChange, compare
from tidemark.model.numerals import duration, percent
from tidemark.model.plan import Plan
from tidemark.model.profile import DEFAULT_HZ
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural, shown, there_are
from tidemark.model.suite import Suite
from tidemark.money.budget import Spent, counted
from tidemark.report.comparison.document import ComparedMetric, ComparisonDocument, exit_code
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import all_trials, find_report
from tidemark.store.stored_plan import find_plan

_NOTABLE = 0.05
"""The least share of the CPU time from which on a new function is named."""
_INDEXES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")


class Found(NamedTuple):
    """What a look has found about the newest release."""

    document: ComparisonDocument
    since: str
    """The first slower version as the rest of a sentence, '' if the newest is the only new one."""
    function: str
    """The function that takes more CPU time as the rest of a sentence, '' without one."""
    seconds: float
    usd: float
    """The time of all runs [s], and their cost at AWS's prices [USD]."""

    @property
    def slower(self) -> list[ComparedMetric]:
        """The metrics that decide and are slower, that with the largest change first."""
        found = (each for each in self.document.metrics if each.decides)
        slower = [each for each in found if each.verdict == "slower"]
        return sorted(slower, key=lambda each: -abs(each.effect or 0.0))


def message(title: str, found: Found) -> str:
    """Return what a look has found in one sentence."""
    base, new = found.document.base.version, found.document.new.version
    spent = f"{duration(found.seconds)}, {found.usd:.2f} USD on AWS"
    if not found.slower:
        words = Counter(each.verdict for each in found.document.metrics if each.decides)
        counts = ", ".join(f"{count} {word}" for word, count in words.most_common())
        return f"{title} {new} is not found slower than {base}: {counts}; {spent}"
    worst, *others = found.slower
    size = abs(worst.effect or 0.0)
    more = f" and in {plural(len(others), 'other metric')}" if others else ""
    return (
        f"{title} {new} is {percent(size, int(size < 0.1))} slower in {worst.name}{more} than "
        f"{base}{found.since}{found.function}; {spent}"
    )


@dataclass
class Chain:
    """The runs of a look, one after the other."""

    cloud: Deployed
    suite: Suite
    target: Target
    console: Console
    within: int | None
    budget_usd: float | None
    seconds: float = 0.0
    usd: float = 0.0

    def find(self, versions: Sequence[str]) -> Found | None:
        """Return what is found about the last of some versions, None if its run fails.

        It is compared with the first. If it is slower, the search is among those between, and the
        first slower one is profiled beside the version before it.
        """
        base, new = versions[0], versions[-1]
        within = self.within or self.suite.defaults.within_seconds
        limit = {"within_seconds": within} if within else {}
        plan = self._measured(versions=[base, new], baseline=base, until="decided", **limit)
        if plan is None:
            return None
        found = Found(compared(self.cloud, plan, base, new), "", "", 0.0, 0.0)
        if found.slower:
            worst = found.slower[0]
            first = self._first_slower(versions, worst) if versions[2:] else new
            since = f", since {first}" if first else ", and no search tells since which release"
            found = found._replace(since=since if versions[2:] else "")
            if first:
                sides = versions[versions.index(first) - 1], first
                found = found._replace(function=self._function(sides, worst))
        return found._replace(seconds=self.seconds, usd=self.usd)

    def _first_slower(self, versions: Sequence[str], metric: ComparedMetric) -> str | None:
        """Return the first version that is slower by a metric, None if no search tells it."""
        base, new = versions[0], versions[-1]
        plan = self._measured(
            bisect={"base": base, "new": new, "metric": metric.name, "among": list(versions)}
        )
        told = plan and find_report(self.cloud.bucket, self.suite.name, plan.run_id, "search.json")
        first = json.loads(told)["first_slower"] if told else None
        return None if first is None else str(first)

    def _function(self, versions: tuple[str, str], metric: ComparedMetric) -> str:
        """Return the function that takes more CPU time in the second version, '' for none."""
        if self.suite.profiler is None:
            return ""
        base, new = versions
        plan = self._measured(
            versions=[base, new], baseline=base, repetitions=1, profile={"hz": DEFAULT_HZ}
        )
        if plan is None:
            return ""
        bucket, test = self.cloud.bucket, metric.test
        try:
            found = profiles_by_version(bucket, self.suite.name, test, versions, plan.run_id)
        except Refused:
            return ""
        old, fresh = (profiled_trials(bucket, side) for side in found.values())
        return next(_grown(compare(old, fresh)), "")

    def _measured(self, **fields: Any) -> Plan | None:  # noqa: ANN401 (the fields of an input)
        """Measure a run; return its plan, None if it is not possible, is too dear or fails."""
        given = {"suite": self.suite.name, **fields, "note": "watch", "trigger": "cli"}
        if self.budget_usd is not None:
            if self.usd >= self.budget_usd:
                return None
            given["budget_usd"] = self.budget_usd - self.usd
        try:
            request = resolved(given, self.suite)
        except Refused as refused:
            click.echo(f"tidemark: {refused}", err=True)
            return None
        names = ", ".join(request.versions)
        self.console.print(intention(names, request, self.suite, self.target), soft_wrap=True)
        preflight(request, self.suite, self.target, self.console)
        run = self.cloud.runs.start(given)
        failed = measure(self.cloud.runs, run, self.target, self.console)
        plan = find_plan(self.cloud.bucket, run.run_id)
        outcome = find_outcome(self.cloud.bucket, run.run_id)
        if plan and outcome:
            self.seconds += (outcome.ended_at - plan.started_at).total_seconds()
            self.usd += counted(Spent(), plan, all_trials(self.cloud.bucket, run.run_id)).usd
        else:
            # The run may have cost all that it was allowed to.
            self.usd += given.get("budget_usd", 0.0)
        return None if failed else plan


def _grown(changed: Comparison) -> Iterator[str]:
    """Yield which functions take more CPU time: themselves, being new, or with what they call."""
    grew = [each for each in changed.changes if each.word == "grew" and each.judged.base]
    yield from (_more(each) for each in grew if each.kind == "self")
    for each in sorted(changed.come, key=lambda each: -each.own):
        if each.own >= _NOTABLE:
            yield f"; `{each.function}` is new and takes {percent(each.own, 0)} of the CPU time"
    yield from map(_more, grew)


def _more(each: FunctionChange) -> str:
    more = percent(each.judged.difference / each.judged.base, 0)
    return f"; `{each.function}` takes {more} more CPU time"


@click.command(name="watch")
@click.argument("suite")
@click.option(
    "--every",
    type=NumberType(60),
    metavar="SECONDS",
    help="Seconds until the command looks again; if not given, it looks once.",
)
@click.option(
    "--since",
    metavar="VERSION",
    help="Version that the newest is compared with, and after which the search begins. If not "
    "given, the known one before the new releases, or at the first look the one before the newest.",
)
@click.option(
    "--within",
    type=NumberType(10, 604_800),
    metavar="SECONDS",
    help="Seconds after which the comparison begins no further repetition. If not given, the "
    "suite's limit, if it has one.",
)
@click.option(
    "--budget-usd",
    type=click.FloatRange(min=0, min_open=True),
    help="Most that all runs of a look may cost at AWS's prices.",
)
@fail_on_option
@target_options
def command(
    suite: str,
    every: int | None,
    since: str | None,
    within: int | None,
    budget_usd: float | None,
    fail_on: str | None,
    target: Target,
) -> None:
    """Measure each new release of SUITE, and find since when it is slower.

    The releases come from the package index, the image's registry or the folder of jars,
    and from the list in the suite's file. The first look compares the newest with the one before
    it, until decided; a later look compares each new release with the known one before it. Of
    several in sequence the last is compared. If it is slower, the command searches among the
    others, and profiles the first slower one. Standard output has one sentence on it; progress is
    on standard error.

    The state folder keeps each sentence, and a release is measured once. If its run fails, the next
    look measures it again.

    The exit code is 0 if there is nothing new or the new release is measured, 1 if its run fails,
    and 2 if a release cannot be found. With --fail-on slower it is 3 if a metric is slower, and 4
    if no metric is slower but the trials cannot tell some.

    \b
    Example:
      tidemark watch rocksdb --every 3600 --budget-usd 2
    """
    system = written_suite(suite)
    check_target(system, target)
    if every is None:
        code = _look(system, since, within, budget_usd, target)
        sys.exit(code if fail_on or code == 1 else 0)
    while True:
        try:
            _look(system, since, within, budget_usd, target)
        except (Refused, click.ClickException, OSError) as error:
            # The index may be down, the disk full, or another run may measure the suite.
            click.echo(f"tidemark: {error}", err=True)
        time.sleep(every)


def _look(
    suite: Suite, since: str | None, within: int | None, budget_usd: float | None, target: Target
) -> int:
    """Measure the newest release unless it was watched; return the exit code of a gate."""
    given = next(filter(None, map(os.environ.get, _INDEXES)), PYPI)
    # uv's variable may begin with a name of the index, `name=https://…`.
    found = releases(suite, re.sub(r"^[\w.-]+=(?=https?://)", "", given))
    for release in found.unlisted:
        click.echo(f"warning: {_unlisted(suite, release)}", err=True)
    watched = target.state / "watched" / suite.name
    known = _known(watched)
    groups = list(_new(found.versions, since, known))
    if not groups:
        click.echo(f"{suite.title} has no new release; {found.versions[-1]} is watched.", err=True)
        return 0
    console = Console(highlight=False, stderr=True)
    left, failed, documents = budget_usd, False, list[ComparisonDocument]()
    known = known or {*found.versions}
    with cloud_at(target, console, suite) as cloud:
        for base, group in groups:
            if left is not None and left <= 0:
                click.echo(
                    f"warning: the budget has no room for {group[-1]} in this look", err=True
                )
                break
            chain = Chain(cloud, suite, target, console, within, left)
            between = found.versions[found.versions.index(base) :]
            told = chain.find(between[: between.index(group[-1]) + 1])
            left = None if left is None else left - chain.usd
            if told is None:
                failed = True
                continue
            known |= {*group}
            _keep(watched, message(suite.title, told), told.document, known)
            documents.append(told.document)
    return 1 if failed else exit_code(documents)


def _keep(
    watched: Path, sentence: str, document: ComparisonDocument, known: Collection[str]
) -> None:
    """Keep a sentence and the releases that the next look knows, and print the sentence."""
    base, new = document.base.version, document.new.version
    content = {"version": new, "base": base, "sentence": sentence, "known": sorted(known)}
    save(watched / f"{new}.json", json.dumps(content).encode())
    click.echo(sentence)


def _known(watched: Path) -> set[str]:
    """Return the releases that were there at a look, none before the first."""
    return {version for file in watched.glob("*.json") for version in _kept(file)}


def _kept(file: Path) -> list[str]:
    try:
        return list(json.loads(file.read_bytes())["known"])
    except (ValueError, KeyError, TypeError):
        raise Refused(f"{file} does not tell which releases were known; delete it") from None


def _unlisted(suite: Suite, release: str) -> str:
    return (
        f"{shown(release)} is released, and suite.yaml of {suite.name} has no version of it; add "
        "it below subject.versions"
    )


def _new(
    versions: Sequence[str], since: str | None, known: Set[str]
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield a base, and the new releases that follow a known one, the newest group first.

    A new release may be older than a known one: a fix for users of an older version.
    """
    if len(versions) < 2:
        there_is = f"{versions[0]} is the only release" if versions else "there is no release"
        raise Refused(f"SUITE: {there_is}; expected two or more to compare")
    if since not in {None, *versions[:-1]}:
        raise Refused(f"--since: {since} is not a release; {there_are(versions[:-1], since)}")
    known, end = known or {*versions[:-1]}, len(versions)
    for place in reversed(range(len(versions))):
        if versions[place] in known:
            if end - place > 1:
                is_newest = end == len(versions)
                yield (since if since and is_newest else versions[place]), versions[place + 1 : end]
            end = place
