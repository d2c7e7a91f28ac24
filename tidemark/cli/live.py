"""The progress of a run, and its result."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from rich.console import Console
from rich.live import Live
from rich.text import Text

from tidemark.cli.forecast import Outlook, countdown
from tidemark.cli.runs import resume_hint
from tidemark.cli.show import FILES, rates, save_report
from tidemark.cli.target import Target
from tidemark.client.runs import Run, RunClient
from tidemark.figures.verdicts.needed_trials import with_next_comparison
from tidemark.figures.verdicts.power import missing
from tidemark.figures.verdicts.sequential_run import (
    SequentialRun,
    awaited,
    criteria,
    ends,
    finding,
    following,
    is_between,
    judged,
    settled,
    undecided,
    why_untold,
)
from tidemark.figures.version_rates import Quantity
from tidemark.model.numerals import figure
from tidemark.model.parameters import count
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.refusal import Refused
from tidemark.model.results import TrialResult
from tidemark.model.run_id import is_profiled, place_of
from tidemark.model.sentences import plural
from tidemark.report.blocks import Block, Report
from tidemark.report.files import load
from tidemark.report.terminal import print_blocks
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import find_report, read_trial, recorded_trials
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import read_progress, read_standing

_MOST_RATES = 6
_MOST_TRIALS, _MOST_ROWS = 10, 16  # lines of trials and rows of rates that a run prints
_PLACE_SECONDS = 2.0


class Place:
    """The place of a run in words, at most two seconds old.

    A cloud on this machine reads the whole history of a trial for each answer, beside the measured
    load.
    """

    def __init__(self, client: RunClient, run: Run) -> None:
        self._client, self._run = client, run
        self._text, self._asked_at = "", -math.inf

    def text(self, plan: Plan, left: Ahead, now: float) -> str:
        """Return the place of a run; ``left`` is what remains, ``now`` is monotonic time [s]."""
        if now - self._asked_at >= _PLACE_SECONDS:
            self._text, self._asked_at = place(self._client, self._run, plan, left), now
        return self._text


def follow(client: RunClient, run: Run, target: Target, console: Console) -> None:
    """Print each newly recorded trial, and the current one, until the run has ended."""
    began = time.monotonic()
    known = set(recorded_trials(client.bucket, run.run_id))
    told, recorded = set[str](), list[float]()
    with Live(Text("planning"), console=console, transient=True) as live:
        plan = find_plan(client.bucket, run.run_id)
        while plan is None and client.active(run):
            time.sleep(client.poll_seconds)
            plan = find_plan(client.bucket, run.run_id)
        if plan is None:
            return
        outlook = Outlook(client.bucket, plan, target)
        console.print(thinned(plan), end="")
        where, active = Place(client, run), True
        while active:
            active = client.active(run)
            for number in _newly_recorded(client, plan, known):
                known.add(number)
                recorded.append(time.monotonic() - began)
                _print_trial(read_trial(client.bucket, run.run_id, number), plan, live.console)
                if plan.request.bisect:  # its plan grows with each comparison
                    plan = find_plan(client.bucket, run.run_id) or plan
            left = ahead(client.bucket, plan, known)
            for line in left.decided:
                if line not in told:
                    told.add(line)
                    live.console.print(line, soft_wrap=True, markup=False)
            if console.is_terminal:
                now = time.monotonic()
                bounds = outlook.bounds(left.trial, now)
                times = countdown(recorded, left.trials, now - began, *bounds)
                live.update(Text(f"{where.text(plan, left, now)}   {times}"))
            if active:
                time.sleep(client.poll_seconds)


def place(client: RunClient, run: Run, plan: Plan, left: Ahead) -> str:
    """Return the place of a run: the test of its current trial, or its report."""
    if left.trial is None:
        return "report"
    text = f"{_number(left.trial, plan)}  {left.trial.name}"
    test = client.current_test(run, plan, left.trial.trial)
    verdicts = f"{left.open} verdicts open" if plan.request.until else ""
    return "  ".join(part for part in (text, test, verdicts) if part)


def _number(trial: PlannedTrial | TrialResult, plan: Plan) -> str:
    if is_profiled(trial.trial):
        return f"profile {place_of(trial.trial)} of {len(plan.profiled)}"
    if plan.request.until:
        return f"trial {trial.trial} in repetition {trial.repetition}"
    return f"trial {trial.trial} of {len(plan.trials)}"


def show_result(
    client: RunClient,
    run: Run,
    target: Target,
    console: Console,
    *,
    exact: bool = False,
    options: str = "",
) -> int:
    """Print the table of the run and the reason of a failure; return the exit code.

    An ``exact`` table has all digits, another one those that the spreads support. The commands that
    go on from the result have the target's flags and the ``options``.

    Raises
    ------
    Refused
        If the run did not start because its input is not accepted now.
    """
    client.await_end([run.run_id])
    status, cause = client.status(run)
    refused = find_outcome(client.bucket, run.own_id)
    if refused and refused.status == "rejected":
        raise Refused(refused.reason)
    plan = find_plan(client.bucket, run.run_id)
    if plan:
        _print_report(client, plan, target, console, exact=exact, options=options)
    outcome = find_outcome(client.bucket, run.run_id)
    for change in outcome.level_changes if outcome else ():
        console.print(change.sentence, soft_wrap=True, markup=False)
    # A stop after the last trial leaves nothing out: EndRun ends the run as complete.
    is_whole = outcome is not None and outcome.status == "complete"
    if status == "SUCCEEDED" or (status != "FAILED" and is_whole):
        return 0
    # A FAILED execution has its cause. For any other, EndRun wrote the reason into the outcome.
    reason = outcome.reason if outcome and status != "FAILED" else cause or status
    failure = Text(f"The run did not complete: {reason}", style="red")
    console.print(failure, soft_wrap=True)
    # The spent budget would end the run again at once.
    budget = " --budget-usd USD" if reason.startswith("budget_usd: ") else ""
    progress = read_progress(client.bucket, run.run_id)
    if hint := resume_hint(run.run_id, progress, budget + options + target.flags):
        console.print(f"Its finished trials are kept; {hint}.", soft_wrap=True)
    return 1


def _print_report(
    client: RunClient, plan: Plan, target: Target, console: Console, *, exact: bool, options: str
) -> None:
    blocks = find_report(client.bucket, plan.suite.name, plan.run_id, f"report.{keys.BLOCKS}")
    if blocks:
        report = load(blocks)
        print_blocks(_results(report, plan, exact=exact), console)
    if plan.of_unknown_order:
        console.print(plan.of_unknown_order, soft_wrap=True, markup=False)
    for file in ("search.json", "advice.json"):
        told = find_report(client.bucket, plan.suite.name, plan.run_id, file)
        if told and (sentence := _told(json.loads(told), options + target.flags)):
            console.print(sentence, soft_wrap=True, markup=False)
    for path in save_report(client.bucket, plan.suite.name, plan.run_id, target.state):
        console.print(f"{_kind(path.name)}: {path}", soft_wrap=True, markup=False)


def _told(told: Mapping[str, str], options: str) -> str:
    """Return a sentence; its commands, which semicolons part, end in the options."""
    command = told.get("command", "")
    asked = "; ".join(f"{each}{options}" for each in command.split("; "))
    return told["sentence"].replace(command, asked) if command else told["sentence"]


def _results(report: Report, plan: Plan, *, exact: bool) -> Iterator[Block]:
    """Yield the answer and the rates of a report, as many as an output of 40 lines has room for."""
    # A search has an answer of its own.
    yield from report.summary[:1] if not plan.request.bisect else ()
    if table := rates(report, exact=exact):
        more = len(table.rows) - _MOST_ROWS
        yield table._replace(rows=table.rows[:_MOST_ROWS])
        if more > 0:
            yield f"`tidemark show {plan.run_id}` prints {plural(more, 'more row')}."


def _print_trial(trial: TrialResult, plan: Plan, console: Console) -> None:
    if is_printed(trial, plan):
        console.print(_trial_line(trial, plan), soft_wrap=True, markup=False)


def is_printed(trial: TrialResult, plan: Plan) -> bool:
    """Tell whether a finished trial has a line: it failed, or is one of the few of a long run."""
    return trial.status != "ok" or trial.trial % _lines_apart(plan) == 0


def _lines_apart(plan: Plan) -> int:
    """Return how many trials in sequence have one line together."""
    return math.ceil(len(plan.all_trials) / _MOST_TRIALS)


def thinned(plan: Plan) -> str:
    """Return a line that says which trials have lines, '' if all have."""
    every = _lines_apart(plan)
    return f"One trial in {every} has a line here, and each that fails.\n" if every > 1 else ""


def _kind(file: str) -> str:
    if file in FILES:
        return "Report"
    return "Flame graphs" if file.startswith(keys.FLAME_GRAPHS) else "Comparison"


def _trial_line(trial: TrialResult, plan: Plan) -> str:
    place = _number(trial, plan)
    if trial.status != "ok":
        return f"{place}  {trial.name:>8}  {trial.status}: {trial.reason}"
    if is_profiled(trial.trial):
        notes = [f"{test.test}: {note}" for test in trial.tests for note in test.artefact_notes]
        return f"{place}  {trial.version:>8}  {'; '.join(notes) or 'kept'}"
    rates = [rate for test in trial.tests for rate in test.rates]
    words = [f"{rate.name} {figure(rate.value)} {rate.unit}" for rate in rates[:_MOST_RATES]]
    if more := len(rates) - len(words):
        words.append(f"and {more} more")
    return f"{place}  {trial.version:>8}  {'  '.join(words)}"


def _newly_recorded(client: RunClient, plan: Plan, known: Collection[int]) -> list[int]:
    """Return the recorded trials that are not known yet.

    They are recorded in the order of their numbers, except the trials of rounds that are measured
    at once.
    """
    after = 0 if plan.request.at_once > 1 else max(known, default=0)
    recorded = recorded_trials(client.bucket, plan.run_id, after=after)
    return [number for number in recorded if number not in known]


class Ahead(NamedTuple):
    """The rest of a run."""

    trial: PlannedTrial | None
    """The current trial; None after the last one."""
    trials: int
    """The number of trials that are left; an estimate for a run until decided."""
    decided: tuple[str, ...] = ()
    """The decided verdicts in words."""
    open: int = 0
    """The number of verdicts that are not decided."""


def ahead(bucket: Bucket, plan: Plan, known: Collection[int]) -> Ahead:
    """Return what is left of a run whose trials ``known`` are recorded."""
    if plan.request.until is None:
        left = [trial for trial in plan.all_trials if trial.trial not in known]
        return Ahead(left[0] if left else None, len(left))
    standing = read_standing(bucket, plan.run_id)
    if known and not standing.trials:  # the standing is deleted when the run ends
        return Ahead(None, 0)
    standing = settled(standing, plan)
    plan = with_next_comparison(plan, standing)
    profiled = [trial for trial in plan.profiled if trial.trial not in known]
    left = [trial for trial in following(standing, plan) if trial.trial not in known] + profiled
    decided = tuple(_decided(standing, plan))
    total = len(plan.compared) * len(awaited(plan))
    trials = _expected(standing, plan) + len(profiled)
    return Ahead(left[0] if left else None, trials, decided, total - len(decided))


def _decided(standing: SequentialRun, plan: Plan) -> Iterator[str]:
    """Yield each decided verdict; an alarm is none until new pairs confirm it."""
    for version in plan.compared:
        for quantity in awaited(plan):
            if found := finding(standing, plan, version, quantity):
                judgement = judged(standing, plan, version, quantity)
                why = why_untold(standing, plan, version, quantity)
                reason = f": {why}" if found == "cannot tell" else ""
                confirmed = " new" if standing.course(version, quantity).again else ""
                told = f"{found} after {judgement.pairs}{confirmed} pairs{reason}"
                yield f"decided  {version:>8}  {quantity.name} {told}"


def _expected(standing: SequentialRun, plan: Plan) -> int:
    """Return about how many trials are left if rates change and scatter as before."""
    versions = undecided(standing, plan)
    repetitions = [
        _missing(standing, plan, version, quantity)
        for version in versions
        for quantity in awaited(plan)
        if finding(standing, plan, version, quantity) is None
    ]
    measured = {plan.request.baseline, plan.request.canary, *versions} - {None}
    return len(measured) * count(plan.request.axes) * max(repetitions, default=0)


def _missing(standing: SequentialRun, plan: Plan, version: str, quantity: Quantity) -> int:
    course, between = standing.course(version, quantity), ends(standing, plan)
    if between and is_between(plan, version, quantity):
        return between.missing(course.first)
    rule = course.of_stage(criteria(plan, quantity))
    return missing(course.pairs, rule) or rule.most - course.pairs.count
