"""``tidemark cost``: the cost of the app on AWS, idle and for one run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from tidemark.cli.chosen_suite import suite_to_run, written_suite
from tidemark.cli.options import state_option
from tidemark.cli.saving import format_option, show
from tidemark.model.checkout import written_context
from tidemark.model.request import example_input, resolve_request
from tidemark.model.settings import read_settings
from tidemark.model.suite import Suite
from tidemark.money.estimate import estimate
from tidemark.money.idle import idle_charges
from tidemark.money.prices import list_prices

_COLUMNS = ("of", "what", "amount", "usd", "reason")
_ALL = "in all"


@click.command(name="cost")
@click.option(
    "--suite",
    default=suite_to_run,
    help="Suite of the priced run; if not given, the only suite, or else rocksdb.",
)
@format_option
@state_option
def command(suite: str, form: str, state: Path) -> None:
    """Show what the stacks cost idle in a month and what a run costs.

    Prices are AWS's list prices. The idle cost is the cost of every resource in the templates of
    the app, with the settings of cdk.json. The cost of a run is the estimate that `tidemark run`
    prints for the suite's defaults.

    \b
    Example:
      tidemark cost --format markdown
    """
    known = written_suite(suite)
    rows = [*_idle(_templates(state)), *_run(known)]
    show(_COLUMNS, rows, form)


def _templates(state: Path) -> list[dict[str, Any]]:
    # The import of boto3 takes a second, so it follows the check of the options.
    from onebox.cloud.deployment import synthesise  # noqa: PLC0415
    from tidemark.one_machine.app import app_of  # noqa: PLC0415

    assembly = synthesise(state.resolve(), app_of(read_settings(written_context())))
    return [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(assembly.glob("*.template.json"))
    ]


def _idle(templates: list[dict[str, Any]]) -> Iterator[Mapping[str, str]]:
    charges = idle_charges(templates)
    for charge in charges:
        yield _row("idle month", charge.kind, str(charge.count), charge.usd, charge.reason)
    yield _row("idle month", _ALL, "", sum(charge.usd for charge in charges), "")


def _run(suite: Suite) -> Iterator[Mapping[str, str]]:
    request = resolve_request(example_input(suite), {suite.name: suite})
    expected = estimate(request, suite, list_prices())
    of = f"run of {suite.name}"
    for what, amount, usd, reason in (
        ("Fargate tasks", f"{expected.task_seconds:,} s", expected.tasks_usd, expected.basis),
        ("Log queries", f"{expected.insights_bytes:,} bytes", expected.queries_usd, "scanned"),
        (
            "Workflow",
            f"{expected.transitions:,} transitions",
            expected.services_usd,
            "with functions, ingested log events and CloudWatch metrics",
        ),
        (
            "Athena",
            f"{expected.athena_bytes:,} bytes",
            expected.athena_usd,
            "each saved query executed once, with its requests to S3",
        ),
        (_ALL, "", expected.usd, f"{list_prices().region}, {list_prices().as_of}"),
    ):
        yield _row(of, what, amount, usd, reason)


def _row(of: str, what: str, amount: str, usd: float, reason: str) -> Mapping[str, str]:
    figures = (of, what, amount, f"{usd:.4f}", reason)
    return dict(zip(_COLUMNS, figures, strict=True))
