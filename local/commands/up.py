"""``tidemark up``: the one-machine cloud, for as long as it is wanted."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from local.cloud.endpoint import Endpoint
from local.commands.options import state_flag, state_option
from local.commands.this_machine import empty_cloud, in_use, on_this_machine
from local.stack import Stack

_LOOK_UP_SECONDS = 0.5


@click.command(name="up")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 takes a free one.")
@click.option("--empty", is_flag=True, help="Deploy nothing: the CDK CLI may, as into an account.")
@state_option
def command(port: int, empty: bool, state: Path) -> None:
    """Keep the cloud up, for the AWS CLI or any AWS SDK.

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
            # A signal just before an endless wait would wake nobody.
            while not threading.Event().wait(_LOOK_UP_SECONDS):
                pass
    except KeyboardInterrupt:
        click.echo("Down.")


def _by_the_cdk(flags: str) -> Sequence[str]:
    return (
        "With the lines above in a shell, deploy, with any name for an image, and start a run:",
        "  make deploy ARGS='-c image=none'",
        f"  .venv/bin/tidemark run --aws{flags}",
    )


def _by_the_aws_cli(stack: Stack) -> Sequence[str]:
    return (
        f"State machine: {stack.state_machine}",
        f"Results bucket: {stack.bucket}",
        "",
        "With the lines above in a shell, start a run and watch it:",
        f"  aws stepfunctions start-execution --state-machine-arn {stack.state_machine}"
        """ --input '{"suite": "rocksdb", "versions": ["9.0.0", "9.8.4"]}'""",
    )


def _directions(endpoint: Endpoint, *what_to_do: str) -> str:
    exports = [f"export {name}={value}" for name, value in endpoint.environment().items()]
    end = "Ctrl-C takes the cloud down; results and logs are kept."
    return "\n".join([*exports, "", *what_to_do, "", end])
