"""``tidemark report``: the report of a run, written again from stored results."""

from __future__ import annotations

from pathlib import Path

import click

from tidemark.cli.options import run_argument
from tidemark.cli.saving import save
from tidemark.cli.target import Target, stored, target_options
from tidemark.cli.wording import active_state
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.claims import claimed_runs
from tidemark.store.run_objects import files_beside, find_report
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import read_progress

FILES = ("report.md", "report.html", "search.json")
"""The files of a report; only a search has the last one."""


def save_report(bucket: Bucket, suite: str, run_id: str, state: Path) -> list[Path]:
    """Write a run's report and its comparisons below ``state``; return their paths."""
    paths = []
    for file in (*FILES, *files_beside(bucket, suite, run_id)):
        if content := find_report(bucket, suite, run_id, file):
            path = state / keys.report(suite, run_id, file)
            save(path, content)
            paths.append(path)
    return paths


@click.command(name="report")
@run_argument
@target_options
def command(run: str, target: Target) -> None:
    """Write the report of RUN again from its stored results.

    Its comparisons and its rows of the tables are written, too. The same results give the same
    bytes. Exit code 1 if RUN is active: its report is written when it ends.

    \b
    Example:
      tidemark report 20261120T124455Z-0a1b2c
    """
    with stored(target) as store:
        bucket = store.bucket
        plan = find_plan(bucket, run)
        if plan is None:
            raise target.not_stored(run)
        progress, execution = read_progress(bucket, run), claimed_runs(bucket).get(run)
        if progress and execution:
            state = active_state(run, progress, store.status_of(execution), target.flags)
            raise click.ClickException(f"run {run} {state}; its report is written when it ends")
        store.publisher.rates(run)
        store.publisher.report(run)
        for path in save_report(bucket, plan.suite.name, run, target.state):
            click.echo(path)
