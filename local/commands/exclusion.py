"""``tidemark exclude`` and ``include``: what does not count, and why."""

from __future__ import annotations

import re

import click

from local.commands.target import Target, deployed, target_options
from suites.keys import RUN_ID
from suites.refusal import Refused

_TRIALS = re.compile(rf"({RUN_ID})(?:/(\d{{1,3}}))?")
# By what is to be: excluded or not, already so or not.
_SAID = {
    (True, False): "does not count any more",
    (True, True): "is already excluded; the reason given now is kept",
    (False, False): "counts again",
    (False, True): "was not excluded",
}


@click.command(name="exclude")
@click.argument("trials", metavar="RUN[/TRIAL]")
@click.option("--reason", required=True, help="Why it does not count; kept and shown.")
@target_options
def exclude(trials: str, reason: str, target: Target) -> None:
    """Leave a run, or one trial of it, out of every figure. It is kept, and may be included again.

    \b
    Example:
      tidemark exclude 20261120T124455Z-0a1b2c/4 --reason "the machine was compiling"
    """
    _mark(trials, reason, target, excluded=True)


@click.command(name="include")
@click.argument("trials", metavar="RUN[/TRIAL]")
@click.option("--reason", default="", help="Why it counts after all; kept.")
@target_options
def include(trials: str, reason: str, target: Target) -> None:
    """Let a run or trial that was excluded count again.

    \b
    Example:
      tidemark include 20261120T124455Z-0a1b2c/4
    """
    _mark(trials, reason, target, excluded=False)


def _mark(trials: str, reason: str, target: Target, *, excluded: bool) -> None:
    parts = _TRIALS.fullmatch(trials)
    if not parts:
        raise Refused(
            f"RUN[/TRIAL]: {trials!r} names no run; expected the form of 20261120T124455Z-0a1b2c/4"
        )
    if excluded and not reason.strip():
        raise Refused("--reason: '' is not accepted: say why it does not count")
    run_id, trial = parts.group(1), int(parts.group(2)) if parts.group(2) else None
    with deployed(target) as cloud:
        results = cloud.runs().results
        plan = results.plan(run_id)
        if plan is None:
            raise target.not_stored(run_id)
        if trial is not None and not 1 <= trial <= len(plan.trials):
            raise Refused(f"TRIAL: {trial} is not one of 1 to {len(plan.trials)} of run {run_id}")
        already = results.is_marked(run_id, trial) == excluded
        # Marked again all the same: what was to follow from it the last time may not have.
        results.mark(run_id, trial, reason, excluded=excluded)
        without_run = trial is not None and results.is_marked(run_id, None)
    what = f"trial {trial} of run {run_id}" if trial else f"run {run_id}"
    if without_run and not excluded:
        hint = f"`tidemark include {run_id}{target.flags}` lets it count"
        click.echo(f"{what} still does not count, for the whole run is excluded; {hint}")
    else:
        click.echo(f"{what} {_SAID[excluded, already]}")
