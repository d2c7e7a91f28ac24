"""``tidemark stop``: the end of a run before its last trial."""

from __future__ import annotations

import click

from tidemark.cli.options import run_argument
from tidemark.cli.target import Target, deployed, stored, target_options
from tidemark.cli.this_machine import CloudLost
from tidemark.cli.wording import ending
from tidemark.client.results import Results
from tidemark.client.runs import RunClient
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown

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
    if not 0 < len(reason.strip()) <= _LONGEST_REASON or not reason.isprintable():
        expected = f"1 to {_LONGEST_REASON} characters on one line"
        raise Refused(f"--reason: {shown(reason)} is not accepted; expected {expected}")
    if target.stack is None:
        with stored(target) as store:
            # The start of a cloud takes seconds; only a run with a claim may need one.
            if run not in store.results.claims():
                raise _inactive(run, store.results, target)
    try:
        with deployed(target) as cloud:
            _stop(run, reason, cloud.runs, target)
            sentence = _ended(run, cloud.results, target)
    except CloudLost:
        # The process of a run ends its cloud after the run, perhaps before this one has seen that.
        with stored(target) as store:
            if store.results.outcome(run) is None:
                raise
            sentence = _ended(run, store.results, target)
    click.echo(sentence)


def _stop(run: str, reason: str, client: RunClient, target: Target) -> None:
    """Stop an active run, and wait until its outcome is stored."""
    active_run = client.find(run)
    if active_run is None:
        raise _inactive(run, client.results, target)
    client.stop(active_run, reason)
    client.await_end([run])


def _inactive(run: str, results: Results, target: Target) -> Refused:
    """Return the refusal of a run that is not active."""
    if results.plan(run) is None:
        return target.not_stored(run)
    return Refused(f"RUN: {run} has ended already")


def _ended(run: str, results: Results, target: Target) -> str:
    how = ending(run, results.outcome(run), results.progress(run), target.flags)
    return f"Run {run} is {how}"
