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
    text: str, lines: Callable[[str], Sequence[str]], everything: bool, most: int | None = None
) -> None:
    """Print a report in Markdown as ``lines`` has it, without its folds if not ``everything``.

    The last line has the number of hidden lines, those beyond ``most`` among them.
    """
    whole = lines(text)
    shown = whole if everything else lines(without_folds(text))[:most]
    click.echo("\n".join(shown))
    if hidden := len(whole) - len(shown):
        click.echo(f"\n--all prints {plural(hidden, 'more line')}.")
