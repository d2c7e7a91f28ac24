"""The cloud that a command works in, with the app deployed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from local.cloud.cloud import Cloud
    from local.cloud.deployment import Stack


@contextmanager
def deployed(state: Path, port: int = 0) -> Iterator[tuple[Cloud, Stack]]:
    """Have a cloud with the app in it; what prevents it is said in one sentence, exit code 1."""
    # moto takes seconds to import: not before the input has been accepted.
    from local.cloud.cloud import start_cloud  # noqa: PLC0415
    from local.cloud.deployment import DeploymentFailed  # noqa: PLC0415
    from local.cloud.objects import ObjectFilesError  # noqa: PLC0415
    from local.cloud.server import PortTaken  # noqa: PLC0415

    try:
        with start_cloud(state, port) as cloud:
            yield cloud, cloud.deploy()
    except (DeploymentFailed, ObjectFilesError, PortTaken) as error:
        raise click.ClickException(str(error)) from None
    except PermissionError as error:
        raise click.ClickException(f"--state: {state} cannot be used: {error.strerror}") from None
