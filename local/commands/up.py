"""``tidemark up``: the one-machine cloud, for as long as it is wanted."""

from __future__ import annotations

import threading
from pathlib import Path

import click

from local.cloud.deployment import Stack
from local.cloud.endpoint import Endpoint
from local.commands.deployed import deployed
from local.commands.options import state_option

_LOOK_UP_SECONDS = 0.5


@click.command(name="up")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 takes a free one.")
@state_option
def command(port: int, state: Path) -> None:
    """Keep the cloud up, for the AWS CLI or any program that uses an AWS SDK.

    \b
    Example:
      tidemark up --port 4566
    """
    try:
        with deployed(state, port, shared=True) as cloud:
            if cloud.pid is not None:
                raise click.ClickException(
                    f"--state: process {cloud.pid} has the cloud of {state} up already, at "
                    f"{cloud.endpoint.url}"
                )
            click.echo(_directions(cloud.endpoint, cloud.stack))
            # A signal just before an endless wait would wake nobody.
            while not threading.Event().wait(_LOOK_UP_SECONDS):
                pass
    except KeyboardInterrupt:
        click.echo("Down.")


def _directions(endpoint: Endpoint, stack: Stack) -> str:
    exports = [f"export {name}={value}" for name, value in endpoint.environment().items()]
    return "\n".join(
        [
            *exports,
            "",
            f"State machine: {stack.state_machine}",
            f"Results bucket: {stack.bucket}",
            "",
            "With the lines above in a shell, start a run and watch it:",
            f"  aws stepfunctions start-execution --state-machine-arn {stack.state_machine}"
            """ --input '{"suite": "rocksdb", "versions": ["9.0.0", "9.8.4"]}'""",
            "",
            "Ctrl-C takes the cloud down; results and logs are kept.",
        ]
    )
