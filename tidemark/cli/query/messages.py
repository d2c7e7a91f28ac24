"""Messages of a query on standard error."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import click


def tell(sentences: Iterable[str]) -> None:
    """Print sentences, a line each; a standard error that takes none loses no rows."""
    with suppress(OSError):
        for sentence in sentences:
            click.echo(sentence, err=True)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings, a line each."""
    tell(f"warning: {warning}" for warning in warnings)
