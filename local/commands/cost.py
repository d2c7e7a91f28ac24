"""``tidemark cost``: what the app costs on AWS, idle and for one run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from cdk.idle import idle_charges
from cdk.settings import read_settings, written_context
from local.commands.formats import format_option, show
from local.commands.options import state_option
from local.commands.systems import suites
from suites.estimate import estimate
from suites.model import Suite
from suites.prices import LIST_PRICES
from suites.request import known_suite, settle

_COLUMNS = ("of", "what", "amount", "usd", "reason")
_ALL = "in all"


@click.command(name="cost")
@click.option("--suite", default="rocksdb", show_default=True, help="Whose default run is priced.")
@format_option
@state_option
def command(suite: str, form: str, state: Path) -> None:
    """Say what the stacks cost idle in a month, and what a run costs.

    Prices are AWS's list prices. Idle cost is that of every resource in the templates of the app,
    with the settings of cdk.json. That of a run, with the suite's defaults, is the estimate that a
    run is given before it starts.

    \b
    Example:
      tidemark cost --format markdown
    """
    known = known_suite(suite, suites())
    rows = [*_idle(_templates(state)), *_run(known)]
    show(_COLUMNS, rows, form)


def _templates(state: Path) -> list[dict[str, Any]]:
    # boto3 takes a second to import: not before the options have been accepted.
    from local.cloud.deployment import synthesise  # noqa: PLC0415

    assembly = synthesise(state.resolve(), read_settings(written_context()))
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
    request = settle({"suite": suite.name}, {suite.name: suite})
    expected = estimate(request, suite, LIST_PRICES)
    of = f"run of {suite.name}"
    for what, amount, usd, reason in (
        ("Fargate tasks", f"{expected.task_seconds:,} s", expected.tasks_usd, expected.basis),
        ("Log queries", f"{expected.insights_bytes:,} bytes", expected.queries_usd, "scanned"),
        (
            "Workflow",
            f"{expected.transitions:,} transitions",
            expected.services_usd,
            "with functions, log events taken in and CloudWatch metrics",
        ),
        (
            "Athena",
            f"{expected.athena_bytes:,} bytes",
            expected.athena_usd,
            "each saved query asked once",
        ),
        (_ALL, "", expected.usd, f"{LIST_PRICES.region}, {LIST_PRICES.as_of}"),
    ):
        yield _row(of, what, amount, usd, reason)


def _row(of: str, what: str, amount: str, usd: float, reason: str) -> Mapping[str, str]:
    figures = (of, what, amount, f"{usd:.4f}", reason)
    return dict(zip(_COLUMNS, figures, strict=True))
