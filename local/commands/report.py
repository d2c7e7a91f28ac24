"""``tidemark report``: a run's report, made again from what is stored."""

from __future__ import annotations

from pathlib import Path

import click

from local.commands.options import run_argument
from local.commands.saving import save
from local.commands.target import Target, deployed, target_options
from local.commands.wording import going_on
from local.results import Results
from suites import keys

FILES = ("report.md", "report.html")


def save_report(results: Results, suite: str, run_id: str, state: Path) -> list[Path]:
    """Write a run's report and its comparisons below ``state``; return where their files are."""
    saved = []
    for file in (*FILES, *results.comparisons(suite, run_id)):
        if content := results.report(suite, run_id, file):
            path = state / keys.report(suite, run_id, file)
            save(path, content)
            saved.append(path)
    return saved


@click.command(name="report")
@run_argument
@target_options
def command(run: str, target: Target) -> None:
    """Make the report of RUN again, from stored results alone.

    With it go its comparisons. The same results give the same bytes. Exit code 1 if RUN goes on: it
    has its report when it ends.

    \b
    Example:
      tidemark report 20261120T124455Z-0a1b2c
    """
    with deployed(target) as cloud:
        results = cloud.runs().results
        plan = results.plan(run)
        if plan is None:
            raise target.not_stored(run)
        progress = results.progress(run)
        if progress and run in results.claims():
            said = going_on(run, progress, target.flags)
            raise click.ClickException(f"run {run} {said}; it has its report when it ends")
        results.rebuild_report(run)
        for path in save_report(results, plan.suite.name, run, target.state):
            click.echo(path)
