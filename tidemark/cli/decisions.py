"""The decisions of people: ``tidemark exclude``, ``include`` and ``acknowledge``."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import click

from tidemark.cli.options import DayType
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.deployed import Stored
from tidemark.client.tables import ask_saved
from tidemark.model.refusal import Refused
from tidemark.model.request import LONGEST_NOTE
from tidemark.model.run_id import RUN_ID
from tidemark.model.sentences import listed, shown
from tidemark.store import history, run_objects

_TRIALS = re.compile(rf"({RUN_ID})(?:/(\d{{1,3}}))?")
# By two facts: whether the command excludes, and whether the trials already have that mark.
_RESULTS = {
    (True, False): "no longer counts",
    (True, True): "is already excluded; the new reason is kept",
    (False, False): "counts again",
    (False, True): "was not excluded",
}


@click.command
@click.argument("trials", metavar="RUN[/TRIAL]")
@click.option("--reason", required=True, help="Reason why it does not count; stored and shown.")
@target_options
def exclude(trials: str, reason: str, target: Target) -> None:
    """Leave a run, or one trial of it, out of every figure. Its results are kept.

    \b
    Example:
      tidemark exclude 20261120T124455Z-0a1b2c/4 --reason "the machine was compiling"
    """
    _mark(trials, reason, target, excluded=True)


@click.command
@click.argument("trials", metavar="RUN[/TRIAL]")
@click.option("--reason", default="", help="Reason why it counts again; stored.")
@target_options
def include(trials: str, reason: str, target: Target) -> None:
    """Include an excluded run or trial in the figures again.

    \b
    Example:
      tidemark include 20261120T124455Z-0a1b2c/4
    """
    _mark(trials, reason, target, excluded=False)


def _mark(trials: str, reason: str, target: Target, *, excluded: bool) -> None:
    match = _TRIALS.fullmatch(trials)
    if not match:
        raise Refused(
            f"RUN[/TRIAL]: {trials!r} names no run; expected the form of 20261120T124455Z-0a1b2c/4"
        )
    if len(reason) > LONGEST_NOTE:
        raise Refused(f"--reason: {len(reason):,} characters; expected at most {LONGEST_NOTE}")
    if excluded and not reason.strip():
        raise Refused("--reason: '' is not accepted: say why it does not count")
    run_id, trial = match.group(1), int(match.group(2)) if match.group(2) else None
    with stored(target) as store:
        bucket = store.bucket
        plan = target.plan(bucket, run_id)
        if trial is not None and not 1 <= trial <= len(plan.trials):
            raise Refused(
                f"TRIAL: run {run_id} has no trial {trial}; expected 1 to {len(plan.trials)}"
            )
        already = run_objects.is_excluded(bucket, run_id, trial) == excluded
        # An existing mark is written again, because its figures may not have been published.
        record_exclusion(store, run_id, trial, reason, excluded=excluded)
        run_excluded = trial is not None and run_objects.is_excluded(bucket, run_id, None)
        others = [
            each
            for each in range(1, len(plan.trials) + 1)
            if trial is None and run_objects.is_excluded(bucket, run_id, each)
        ]
    name = f"trial {trial} of run {run_id}" if trial else f"run {run_id}"
    if run_excluded and not excluded:
        hint = f"`tidemark include {run_id}{target.flags}` includes the run"
        click.echo(f"{name} still does not count, because the whole run is excluded; {hint}")
    else:
        but = f", but for trial {listed(others)}, still excluded" if others and not excluded else ""
        click.echo(f"{name} {_RESULTS[excluded, already]}{but}")


def record_exclusion(
    stored: Stored, run_id: str, trial: int | None, reason: str, *, excluded: bool
) -> None:
    """Exclude a trial, or the whole run, from every figure, or include it again."""
    run_objects.exclude(stored.bucket, run_id, trial, reason, excluded=excluded)
    stored.publisher.rates(run_id)
    stored.publisher.report(run_id)
    # The end of a run refreshes QuickSight, and here no run ends.
    stored.publisher.refresh()


@click.command
@click.argument("run_id", metavar="RUN")
@click.option("--metric", help="Only this metric; if not given, all metrics that changed at RUN.")
@click.option(
    "--reason", required=True, help="Reason why the new level is accepted; stored and shown."
)
@click.option(
    "--until",
    required=True,
    type=DayType(),
    metavar="YYYY-MM-DD",
    help="Last day on which the new level is accepted, in UTC.",
)
@target_options
def acknowledge(
    run_id: str, metric: str | None, reason: str, until: datetime, target: Target
) -> None:
    """Accept the new level of a metric since RUN, until a date.

    RUN is the first run on the new level, as `tidemark history` names it. After that day the next
    run reports the change once more.

    \b
    Example:
      tidemark acknowledge 20261120T124455Z-0a1b2c --reason "checksums" --until 2027-01-31
    """
    if not reason.strip():
        raise Refused("--reason: '' is not accepted: say why the new level is accepted")
    today = datetime.now(UTC).date()
    if until.date() < today:
        raise Refused(f"--until: {until.date()} is over; expected {today} or later")
    with stored(target) as store:
        rows = ask_saved(store.tables, "level_changes", {"changed_run": run_id}).records()
        if not rows:
            hint = f"`tidemark history{target.flags}` names the runs"
            raise Refused(f"RUN: the history has no change of level at {shown(run_id)}; {hint}")
        chosen = [row for row in rows if metric in (None, row["metric"])]
        if not chosen:
            changed = listed(sorted({str(row["metric"]) for row in rows}))
            raise Refused(
                f"--metric: the history has no change of {shown(metric)} at {run_id}, "
                f"but of {changed}"
            )
        for row in chosen:
            place = run_id, row["test"] or "", row["metric"] or ""
            history.acknowledge(store.bucket, row["suite"] or "", place, reason, until.date())
        # The newest run of a suite has its changes of level.
        for newest in {row["run_id"] or "" for row in chosen}:
            store.publisher.report(newest)
        store.publisher.refresh()
    names = listed(sorted({str(row["metric"]) for row in chosen}))
    click.echo(f"{names}: the level since run {run_id} is accepted until {until.date()}")
