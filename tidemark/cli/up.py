"""``tidemark up``: the one-machine cloud, until Ctrl-C."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from onebox.cloud.endpoint import Endpoint
from tidemark.cli.chosen_suite import SHIPPED
from tidemark.cli.options import NumberType, state_flag, state_option
from tidemark.cli.this_machine import empty_cloud, in_use, on_this_machine
from tidemark.client.deployed import Stack
from tidemark.model.checkout import written_suites

_LOOK_UP_SECONDS = 0.5


@click.command(name="up")
@click.option(
    "--port",
    type=NumberType(0, 65535),
    default=0,
    help="Port of the cloud; 0 takes a free one.",
)
@click.option(
    "--empty", is_flag=True, help="Deploy nothing; the CDK CLI can then deploy as into an account."
)
@state_option
def command(port: int, empty: bool, state: Path) -> None:
    """Keep the local cloud up for the AWS CLI or any AWS SDK.

    \b
    Example:
      tidemark up --port 4566
    """
    flags = state_flag(state)
    try:
        with ExitStack() as opened:
            if empty:
                endpoint = opened.enter_context(empty_cloud(state, port)).endpoint
                click.echo(_directions(endpoint, *_by_the_cdk(flags)))
            else:
                cloud = opened.enter_context(on_this_machine(state, port, shared=True, flags=flags))
                if cloud.pid is not None:
                    raise in_use(state, cloud.endpoint, cloud.pid)
                click.echo(_directions(cloud.endpoint, *_by_the_aws_cli(cloud.stack)))
            # A signal just before an endless wait would not wake it.
            while not threading.Event().wait(_LOOK_UP_SECONDS):
                pass
    except KeyboardInterrupt:
        click.echo("Down.")


def _by_the_cdk(flags: str) -> Sequence[str]:
    return (
        "Run the lines above in a shell, then deploy with any image name and start a run:",
        "  make deploy ARGS='-c images=*=none'",
        f"  .venv/bin/tidemark run --aws{flags}",
    )


def _by_the_aws_cli(stack: Stack) -> Sequence[str]:
    return (
        f"State machine: {stack.state_machine}",
        f"Results bucket: {stack.bucket}",
        "",
        "Run the lines above in a shell, then start a run:",
        f"  aws stepfunctions start-execution --state-machine-arn {stack.state_machine}"
        f" --input '{example()}'",
    )


def example() -> str:
    """Return the input of a run of the suite that goes without saying, or of the first one."""
    names = written_suites()
    return json.dumps({"suite": SHIPPED if SHIPPED in names else min(names)})


def _directions(endpoint: Endpoint, *next_steps: str) -> str:
    exports = [f"export {name}={value}" for name, value in endpoint.environment().items()]
    end = "Ctrl-C takes the cloud down; results and logs are kept."
    return "\n".join([*exports, "", *next_steps, "", end])
