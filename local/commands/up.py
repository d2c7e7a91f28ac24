"""``tidemark up``: the one-machine cloud, for as long as it is wanted."""

from __future__ import annotations

import threading
from pathlib import Path

import click

from local.commands.deployed import deployed
from local.commands.options import state_option


@click.command(name="up")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 takes a free one.")
@state_option
def command(port: int, state: Path) -> None:
    """Keep the cloud up, for the AWS CLI or any program that uses an AWS SDK.

    \b
    Example:
      tidemark up --port 4566
    """
    with deployed(state, port) as (cloud, stack):
        for name, value in cloud.endpoint.environment().items():
            click.echo(f"export {name}={value}")
        click.echo(f"\nState machine: {stack.state_machine}")
        click.echo(f"Results bucket: {stack.bucket}\n")
        click.echo("With the lines above in a shell, start a run and watch it:")
        click.echo(
            f"  aws stepfunctions start-execution --state-machine-arn {stack.state_machine}"
            """ --input '{"suite": "rocksdb", "versions": ["9.0.0", "9.8.4"]}'"""
        )
        click.echo("\nCtrl-C takes the cloud down; results and logs are kept.")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            click.echo("Down.")
