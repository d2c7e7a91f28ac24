"""``tidemark calibrate``: what runs of a suite find on this machine, or in this account."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import stdev

import click

from tidemark.cli.attended_run import (
    check_target,
    cloud_at,
    intention,
    measure,
    preflight,
    terminal,
)
from tidemark.cli.chosen_suite import suite_to_run, written_suite
from tidemark.cli.saving import save, show
from tidemark.cli.set_option import resolved
from tidemark.cli.target import Target, target_options
from tidemark.client.deployed import Deployed
from tidemark.figures.calibration import CHANGES, DRAWS, SHARE, Found, found, noise, seconds_of_pair
from tidemark.figures.version_rates import Quantity, quantities
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural, shown
from tidemark.model.suite import TRIALS
from tidemark.report.blocks import Report, Row, Section, Table
from tidemark.report.markdown import markdown
from tidemark.store import keys
from tidemark.store.run_objects import read_exclusions, read_trials
from tidemark.store.stored_plan import find_plan

FILE = "calibration.md"
_MINUTES = (1, 5, 30)


@click.command(name="calibrate")
@click.argument("suite", default=suite_to_run)
@click.option("--version", help="Version to measure; if not given, the suite's last default.")
@click.option(
    "--repetitions",
    type=int,
    default=20,
    show_default=True,
    help="Repetitions to measure, 5 to 100; more of them know the noise better.",
)
@click.option(
    "--slowed",
    help="Percentages by which the version is slowed, 0,5,10,20 if not given; in trials 0 alone.",
)
@target_options
def command(
    suite: str, version: str | None, repetitions: int, slowed: str | None, target: Target
) -> None:
    """Show what runs of SUITE find on this machine, or with --aws in your account.

    A run measures one version beside itself: as it is, and in rounds also slowed by 5, 10 and 20 %
    by waiting. The noise is the scatter of its pairs around these true changes. The table says of
    each metric the smallest slowdown that 80 % of the runs until decided find in 1, 5 and 30
    minutes, and how many runs of equal versions are called slower or faster. It is kept beside the
    run's report.

    \b
    Example:
      tidemark calibrate rocksdb
    """
    console = terminal()
    system = written_suite(suite)
    check_target(system, target)
    if repetitions < 5:
        raise Refused(f"--repetitions: {repetitions} are too few; expected 5 or more")
    slowed = slowed or ("0" if system.defaults.layout == TRIALS else "0,5,10,20")
    fields = {
        "suite": suite,
        "versions": [version or system.defaults.versions[-1]],
        "slowed": losses(slowed),
        "repetitions": repetitions,
        "trigger": "cli",
    }
    request = resolved(fields, system)
    names = f"{request.baseline} beside itself, slowed by {', '.join(slowed.split(','))} %"
    console.print(intention(names, request, system, target), soft_wrap=True)
    preflight(request, system, target, console)
    with cloud_at(target, console, system) as cloud:
        run = cloud.runs.start(fields)
        code = measure(cloud.runs, run, target, console)
        plan = find_plan(cloud.bucket, run.run_id)
        if plan:
            _tell(cloud, plan, target.state)
    sys.exit(code)


def losses(text: str) -> list[int]:
    """Return the percentages of an option; raise Refused if it has something else."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        sentence = f"--slowed: {shown(text)} is not accepted; expected percentages such as 0,5"
        raise Refused(sentence) from None


def _tell(cloud: Deployed, plan: Plan, state: Path) -> None:
    """Print what runs find, and keep it beside the report of the run."""
    trials = read_trials(cloud.bucket, plan.run_id)
    exclusions = read_exclusions(cloud.bucket, plan.run_id)
    seconds = seconds_of_pair(plan, trials)
    rows = []
    for quantity in quantities(plan, trials):
        left = noise(plan, trials, exclusions, quantity)
        if len(left) > 1:
            lengths = [found(plan, quantity, left, _rounds(each, seconds)) for each in _MINUTES]
            rows.append(dict(_cells(quantity, left, lengths)))
    if not rows:
        click.echo("Fewer than two pairs of a slowed version count: the noise is not known.")
        return
    means = (
        f"A repetition of two versions takes {seconds:.1f} s. The smallest slowdown that "
        f"{SHARE:.0%} of {DRAWS} drawn runs find:"
    )
    click.echo(means)
    show(list(rows[0]), rows, "table")
    file = state / keys.report(plan.suite.name, plan.run_id, FILE)
    save(file, markdown(found_here(plan, means, rows)).encode())
    click.echo(f"Calibration: {file}")


def found_here(plan: Plan, means: str, rows: Sequence[Mapping[str, str | None]]) -> Report:
    """Return the page of a calibration: what its figures mean, and one row for each metric."""
    columns = tuple(rows[0])
    cells = tuple(Row(tuple(row[column] or "" for column in columns)) for row in rows)
    table = Table(means, columns, cells, frozenset(columns[1:]))
    request = plan.request
    losses = ", ".join(map(str, request.slowed.values()))
    measured = (
        f"Run {plan.run_id} measured {request.baseline} beside itself, slowed by {losses} %, in "
        f"{plural(request.repetitions, 'repetition')}."
    )
    return Report(
        f"{plan.suite.title}: what runs find here", (measured,), (Section("Metrics", (table,)),)
    )


def _rounds(minutes: int, seconds: float) -> int:
    return max(1, math.floor(60 * minutes / seconds))


def _cells(
    quantity: Quantity, left: list[float], lengths: list[Found]
) -> Iterator[tuple[str, str | None]]:
    yield "metric", quantity.name
    yield "scatter of a pair", f"{stdev(left):.1%}"
    for minutes, length in zip(_MINUTES, lengths, strict=True):
        smallest = length.smallest
        text = f"over {CHANGES[-1]:.0%}" if smallest is None else f"{smallest:.0%}"
        yield f"{minutes} min", text
    yield "false alarms", f"{max(each.false_alarms for each in lengths):.1%}"
