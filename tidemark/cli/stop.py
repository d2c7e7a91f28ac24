"""``tidemark stop``: the end of a run before its last trial."""

from __future__ import annotations

import click

from tidemark.cli.options import run_argument
from tidemark.cli.target import Target, deployed, stored, target_options
from tidemark.cli.this_machine import CloudLost
from tidemark.cli.wording import ending
from tidemark.client.runs import RunClient
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown
from tidemark.store.bucket import Bucket
from tidemark.store.claims import claimed_runs
from tidemark.store.run_ends import find_outcome
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import read_progress

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
            if run not in claimed_runs(store.bucket):
                raise _inactive(run, store.bucket, target)
    try:
        with deployed(target) as cloud:
            _stop(run, reason, cloud.runs, target)
            sentence = _ended(run, cloud.bucket, target)
    except CloudLost:
        # The process of a run ends its cloud after the run, perhaps before this one has seen that.
        with stored(target) as store:
            if find_outcome(store.bucket, run) is None:
                raise
            sentence = _ended(run, store.bucket, target)
    click.echo(sentence)


def _stop(run: str, reason: str, client: RunClient, target: Target) -> None:
    """Stop an active run, and wait until its outcome is stored."""
    active_run = client.find(run)
    if active_run is None:
        raise _inactive(run, client.bucket, target)
    client.stop(active_run, reason)
    client.await_end([run])


def _inactive(run: str, bucket: Bucket, target: Target) -> Refused:
    """Return the refusal of a run that is not active."""
    if find_plan(bucket, run) is None:
        return target.not_stored(run)
    return Refused(f"RUN: {run} has ended already")


def _ended(run: str, bucket: Bucket, target: Target) -> str:
    how = ending(run, find_outcome(bucket, run), read_progress(bucket, run), target.flags)
    return f"Run {run} is {how}"
