"""The option ``--all`` of commands that print a report: everything, not its results alone."""

from __future__ import annotations

import click

from tidemark.report.folds import without_folds

all_option = click.option(
    "--all", "everything", is_flag=True, help="Print every sample and all details, too."
)


def shortened(text: str, everything: bool) -> str:
    """Return a report in Markdown, without its folds and with the way to them if not everything."""
    short = text if everything else without_folds(text)
    return text if short == text else f"{short}\n--all prints every sample and all details, too.\n"
