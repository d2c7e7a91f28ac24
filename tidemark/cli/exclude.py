"""``tidemark exclude`` and ``include``: the runs and trials that do not count."""

from __future__ import annotations

import re

import click

from tidemark.cli.target import Target, stored, target_options
from tidemark.client import decisions
from tidemark.model.refusal import Refused
from tidemark.model.request import LONGEST_NOTE
from tidemark.model.run_id import RUN_ID
from tidemark.model.sentences import listed
from tidemark.store.run_objects import is_excluded
from tidemark.store.stored_plan import find_plan

_TRIALS = re.compile(rf"({RUN_ID})(?:/(\d{{1,3}}))?")
# By two facts: whether the command excludes, and whether the trials already have that mark.
_RESULTS = {
    (True, False): "no longer counts",
    (True, True): "is already excluded; the new reason is kept",
    (False, False): "counts again",
    (False, True): "was not excluded",
}


@click.command(name="exclude")
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


@click.command(name="include")
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
        plan = find_plan(bucket, run_id)
        if plan is None:
            raise target.not_stored(run_id)
        if trial is not None and not 1 <= trial <= len(plan.trials):
            raise Refused(
                f"TRIAL: run {run_id} has no trial {trial}; expected 1 to {len(plan.trials)}"
            )
        already = is_excluded(bucket, run_id, trial) == excluded
        # An existing mark is written again, because its figures may not have been published.
        decisions.exclude(store, run_id, trial, reason, excluded=excluded)
        run_excluded = trial is not None and is_excluded(bucket, run_id, None)
        others = [
            each
            for each in range(1, len(plan.trials) + 1)
            if trial is None and is_excluded(bucket, run_id, each)
        ]
    name = f"trial {trial} of run {run_id}" if trial else f"run {run_id}"
    if run_excluded and not excluded:
        hint = f"`tidemark include {run_id}{target.flags}` includes the run"
        click.echo(f"{name} still does not count, because the whole run is excluded; {hint}")
    else:
        but = f", but for trial {listed(others)}, still excluded" if others and not excluded else ""
        click.echo(f"{name} {_RESULTS[excluded, already]}{but}")
