"""``tidemark stop``: the end of a run before its last trial."""

from __future__ import annotations

import click

from tidemark.cli.options import run_argument
from tidemark.cli.target import Target, deployed, target_options
from tidemark.cli.wording import ending
from tidemark.model.refusal import Refused

_LONGEST_REASON = 500


@click.command(name="stop")
@run_argument
@click.option(
    "--reason",
    default="by hand",
    show_default=True,
    help="Reason, stored with the outcome of the run.",
)
@target_options
def command(run: str, reason: str, target: Target) -> None:
    """End RUN, which another terminal started. Its finished trials are kept and reported.

    \b
    Example:
      tidemark stop 20261120T124455Z-0a1b2c --reason "the machine is needed"
    """
    if len(reason) > _LONGEST_REASON or not reason.isprintable():
        raise Refused(f"--reason: up to {_LONGEST_REASON} characters on one line are accepted")
    with deployed(target) as cloud:
        client = cloud.runs
        active_run = client.find(run)
        if active_run is None:
            if client.results.plan(run) is None:
                raise target.not_stored(run)
            raise Refused(f"RUN: {run} has ended already")
        client.stop(active_run, reason)
        client.await_end([run])
        outcome, progress = client.results.outcome(run), client.results.progress(run)
    click.echo(f"Run {run} is {ending(run, outcome, progress, target.flags)}")
