"""``tidemark bisect``: the first version between two that is slower than the older one."""

from __future__ import annotations

import json
import sys

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
from tidemark.cli.options import exact_option
from tidemark.cli.set_option import (
    axis_option,
    parsed,
    resolved,
    set_option,
    split,
    split_axes,
)
from tidemark.cli.target import Target, target_options
from tidemark.client.deployed import Deployed
from tidemark.client.runs import Run
from tidemark.report.comparison.document import CANNOT_TELL
from tidemark.store.run_objects import find_report


@click.command(name="bisect")
@click.argument("base")
@click.argument("new")
@click.option("--metric", required=True, metavar="NAME", help="Metric that has become slower.")
@click.option(
    "--suite",
    default=suite_to_run,
    help="Suite to measure; if not given, the only suite, or else rocksdb.",
)
@click.option(
    "--repetitions", type=int, help="Most repetitions of a comparison; if not given, 100."
)
@set_option
@axis_option
@exact_option
@target_options
def command(
    base: str,
    new: str,
    metric: str,
    suite: str,
    repetitions: int | None,
    settings: tuple[str, ...],
    axes: tuple[str, ...],
    exact: bool,
    target: Target,
) -> None:
    """Find the first version after BASE, up to NEW, that is slower.

    One run compares NEW with BASE until it has a verdict. If NEW is slower, the run measures the
    version in the middle between them until the trials tell whether it is nearer to BASE or to NEW.
    It repeats this with the versions that are left. The search also ends if the trials cannot tell.
    The report of the run has all comparisons. `tidemark run --resume` continues a search that was
    stopped.

    The exit code is 0 if the first slower version is found or NEW is not slower, 1 if the run fails
    or is stopped, 2 if the input is refused, and 4 if the trials cannot tell.

    \b
    Example:
      tidemark bisect 8.8.1 9.8.4 --metric ingest_engine_rate
    """
    console = terminal()
    system = written_suite(suite)
    check_target(system, target)
    options = {
        "repetitions": repetitions,
        "parameters": parsed(split(settings), system) or None,
        "axes": split_axes(axes) or None,
    }
    fields = {
        "suite": suite,
        "bisect": {"base": base, "new": new, "metric": metric},
        **{name: value for name, value in options.items() if value is not None},
        "trigger": "cli",
    }
    request = resolved(fields, system)
    names = f"{base} to {new} by {metric}"
    console.print(intention(names, request, system, target), soft_wrap=True)
    preflight(request, system, target, console)
    with cloud_at(target, console, system) as cloud:
        run = cloud.runs.start(fields)
        code = measure(cloud.runs, run, target, console, exact=exact)
        sys.exit(code or _exit_code(cloud, run, suite))


def _exit_code(cloud: Deployed, run: Run, suite: str) -> int:
    """Return the exit code of a complete search."""
    stored = find_report(cloud.bucket, suite, run.run_id, "search.json")
    return 0 if stored and json.loads(stored)["is_conclusive"] else CANNOT_TELL
