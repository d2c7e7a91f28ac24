"""``tidemark show`` and ``tidemark report``: the report of a run, printed and written again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.cli.options import optional_run_argument, run_argument
from tidemark.cli.runs import active_state, ending
from tidemark.cli.saving import save
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.deployed import Stored
from tidemark.client.tables import ask_saved
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural
from tidemark.report.blocks import Bullets, Details, Report, Table, brief
from tidemark.report.markdown import markdown, plain
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.claims import claimed_runs
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import files_beside, find_report
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import read_progress

if TYPE_CHECKING:  # a command that prints no report does not import it
    from rich.console import Console

FILES = ("report.md", "report.html", "search.json")
"""The files of a report; only a search has the last one."""
all_option = click.option(
    "--all", "everything", is_flag=True, help="Print every sample and all details, too."
)
# The lines of a screen beside a report: the end of the run, the number of hidden lines, each with
# an empty line, and the prompt.
_BESIDE = 5
_RESULTS = "Results"


@click.command
@optional_run_argument
@all_option
@target_options
def show(run: str | None, everything: bool, target: Target) -> None:
    """Show the results of RUN, or of the newest run, and how it ended.

    For an active run the command shows the progress. On a terminal the results are cut to fit the
    screen. --all prints the whole report: every sample, the course of the tests, the trials, the
    cost, the set-up and the logs, too.

    \b
    Example:
      tidemark show 20261120T124455Z-0a1b2c
    """
    with stored(target) as store:
        bucket = store.bucket
        run = run or _newest(store, target)
        active = _active(store, run, target)
        suite, state = active or _ended(store, run, target)
        stored_report = find_report(bucket, suite, run, f"report.{keys.BLOCKS}")
    click.echo(f"Run {run} {state}\n")
    if stored_report is None:
        command = f"`tidemark report {run}{target.flags}`"
        click.echo("It has no report." if active else f"It has no report; {command} writes it.")
    else:
        # The import takes time, which a run without a report does not need.
        from tidemark.report.files import load  # noqa: PLC0415

        print_run(load(stored_report), everything=everything)


def _active(store: Stored, run: str, target: Target) -> tuple[str, str] | None:
    """Return the suite and the state of a run that holds a claim, None for any other run."""
    execution = claimed_runs(store.bucket).get(run)
    if execution is None:
        return None
    plan, progress = find_plan(store.bucket, run), read_progress(store.bucket, run)
    # A claim is written a moment before its plan.
    if plan is None or progress is None:
        return None
    status = store.status_of(execution)
    return plan.suite.name, active_state(run, progress, status, target.flags)


def _ended(store: Stored, run: str, target: Target) -> tuple[str, str]:
    """Return the suite and the outcome of a run that has ended."""
    rows = ask_saved(store.tables, "run_health", {"run_id": run}, limit=1).records()
    if rows:
        suite, status, reason = (rows[0][name] or "" for name in ("suite", "status", "reason"))
        return suite, f"is {status}: {reason}" if reason else f"is {status}"
    plan = target.plan(store.bucket, run)
    outcome, progress = find_outcome(store.bucket, run), read_progress(store.bucket, run)
    state = ending(run, outcome, progress, target.flags)
    return plan.suite.name, f"is {state}" if outcome else f"was planned and ended {state}"


def _newest(store: Stored, target: Target) -> str:
    """Return the newest active run, or else the newest ended run."""
    ended = [row["run_id"] for row in ask_saved(store.tables, "run_health", limit=1).records()]
    newest = max(claimed_runs(store.bucket), default=None) or next(iter(ended), None)
    if newest is None:
        raise Refused(f"RUN: {target.nothing_stored}")
    return newest


def save_report(bucket: Bucket, suite: str, run_id: str, state: Path) -> list[Path]:
    """Write a run's report and its comparisons below ``state``; return their paths."""
    paths = []
    for file in (*FILES, *files_beside(bucket, suite, run_id)):
        if content := find_report(bucket, suite, run_id, file):
            path = state / keys.report(suite, run_id, file)
            save(path, content)
            paths.append(path)
    return paths


@click.command
@run_argument
@target_options
def report(run: str, target: Target) -> None:
    """Write the report of RUN again from its stored results.

    Its comparisons and its rows of the tables are written, too. The same results give the same
    bytes. Exit code 1 if RUN is active: its report is written when it ends.

    \b
    Example:
      tidemark report 20261120T124455Z-0a1b2c
    """
    with stored(target) as store:
        bucket = store.bucket
        plan = target.plan(bucket, run)
        progress, execution = read_progress(bucket, run), claimed_runs(bucket).get(run)
        if progress and execution:
            state = active_state(run, progress, store.status_of(execution), target.flags)
            raise click.ClickException(f"run {run} {state}; its report is written when it ends")
        store.publisher.rates(run)
        store.publisher.report(run)
        for path in save_report(bucket, plan.suite.name, run, target.state):
            click.echo(path)


def print_lines(whole: Sequence[str], shown: Sequence[str], *, everything: bool) -> None:
    """Print all lines of a report, or those to be ``shown`` and the number of hidden lines."""
    click.echo("\n".join(whole if everything else shown))
    if not everything and (hidden := len(whole) - len(shown)) > 0:
        click.echo(f"\n--all prints {plural(hidden, 'more line')}.")


def print_comparison(whole_text: str, report: Report, *, everything: bool) -> None:
    """Print a comparison for a terminal, or as Markdown: with ``--all`` the whole, with folds."""
    if sys.stdout.isatty():
        # The import of rich takes time, which a program that reads Markdown does not need.
        from rich.console import Console  # noqa: PLC0415

        from tidemark.report.terminal import screen_lines  # noqa: PLC0415

        console = Console(highlight=False)
        whole, shown = (screen_lines(each, console) for each in (report, brief(report)))
    else:
        whole, shown = (text.splitlines() for text in (whole_text, markdown(brief(report))))
    print_lines(whole, shown, everything=everything)


def print_run(report: Report, *, everything: bool) -> None:
    """Print the report of a run, or as much of it as fits the screen.

    A program that reads the report gets all results.
    """
    if sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415

        from tidemark.report.terminal import screen_lines  # noqa: PLC0415

        console = Console(highlight=False)
        whole = screen_lines(report._replace(title=""), console)
        shown = first_screen(report, console)
    else:
        whole, shown = (plain(each).splitlines() for each in (report, brief(report)))
    print_lines(whole, shown, everything=everything)


def rates(report: Report, *, exact: bool = False) -> Table | None:
    """Return the table of a run's rates, with all digits or those that their spreads support."""
    from tidemark.report.run_report.versions import ALL_DIGITS  # noqa: PLC0415

    blocks = [each for section in report.sections if section.heading == _RESULTS
              for each in section.blocks]  # fmt: skip
    whole = [
        each.blocks for each in blocks if isinstance(each, Details) and each.name == ALL_DIGITS
    ]
    shown = whole[0] if exact and whole else blocks
    return next((each for each in shown if isinstance(each, Table)), None)


def first_screen(report: Report, console: Console) -> list[str]:
    """Return the lines of a run's report that fit the screen: its answer, its rates, and the rest.

    The rates are left out if they do not fit.
    """
    from tidemark.report.terminal import screen_lines  # noqa: PLC0415

    most = max(1, console.height - _BESIDE)
    first = 2 if any(isinstance(each, Bullets) for each in report.summary[1:2]) else 1
    answer, rest = report.summary[:first], report.summary[first:]
    lines = screen_lines(Report("", answer, ()), console)
    table = rates(report)
    tables = screen_lines(Report("", (table,), ()), console) if table else []
    if len(lines) + len(tables) < most:
        lines += ["", *tables]
    others = tuple(each for each in report.sections if each.heading != _RESULTS)
    more = brief(report._replace(title="", summary=rest, sections=others))
    lines = [*lines, "", *screen_lines(more, console)][:most]
    return "\n".join(lines).rstrip().split("\n")
