"""The option ``--all`` of commands that print a report: everything, not its results alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from tidemark.model.sentences import plural
from tidemark.report.folds import without_folds

all_option = click.option(
    "--all", "everything", is_flag=True, help="Print every sample and all details, too."
)


def print_lines(
    text: str,
    lines: Callable[[str], Sequence[str]],
    everything: bool,
    brief: Callable[[str], Sequence[str]] | None = None,
) -> None:
    """Print a report in Markdown as ``lines`` has it, or only as ``brief`` has it.

    If not ``everything`` is printed, the last line has the number of hidden lines. Without
    ``brief`` these are the folds.
    """
    whole = lines(text)
    shown = whole if everything else brief(text) if brief else lines(without_folds(text))
    click.echo("\n".join(shown))
    if (hidden := len(whole) - len(shown)) > 0:
        click.echo(f"\n--all prints {plural(hidden, 'more line')}.")
