"""Progress of a query, for a person at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from local.insights.progress import Told


@contextmanager
def reading() -> Iterator[Told | None]:
    """Show the progress of a query on standard error if it is a terminal; yield its receiver."""
    if not sys.stderr.isatty():
        yield None
        return
    # rich takes as long to import as a small query takes.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading events", total=100)
        yield lambda percentage: progress.update(task, completed=percentage)
