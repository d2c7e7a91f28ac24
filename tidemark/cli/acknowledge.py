"""``tidemark acknowledge``: accept the new level of a metric, with a reason and until a day."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from tidemark.cli.options import DayType
from tidemark.cli.target import Target, stored, target_options
from tidemark.client import decisions
from tidemark.client.tables import ask_saved
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shown


@click.command(name="acknowledge")
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
def command(run_id: str, metric: str | None, reason: str, until: datetime, target: Target) -> None:
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
        decisions.acknowledge(store, chosen, reason, until.date())
    names = listed(sorted({str(row["metric"]) for row in chosen}))
    click.echo(f"{names}: the level since run {run_id} is accepted until {until.date()}")
