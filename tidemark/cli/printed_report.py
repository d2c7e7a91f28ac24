"""A printed report: its results alone, or everything with ``--all``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tidemark.model.sentences import plural

if TYPE_CHECKING:  # a command that prints no report does not import it
    from rich.console import Console

    from tidemark.report.blocks import Report

all_option = click.option(
    "--all", "everything", is_flag=True, help="Print every sample and all details, too."
)
# The lines of a screen beside a report: the end of the run, the number of hidden lines, each with
# an empty line, and the prompt.
_BESIDE = 5
_RESULTS = "Results"


def print_lines(whole: Sequence[str], shown: Sequence[str], *, everything: bool) -> None:
    """Print all lines of a report, or those to be ``shown`` and the number of hidden lines."""
    click.echo("\n".join(whole if everything else shown))
    if not everything and (hidden := len(whole) - len(shown)) > 0:
        click.echo(f"\n--all prints {plural(hidden, 'more line')}.")


def print_comparison(markdown: str, report: Report, *, everything: bool) -> None:
    """Print a comparison: as Markdown, which has folds with ``--all``, or for a terminal."""
    from tidemark.report.blocks import brief  # noqa: PLC0415

    if sys.stdout.isatty():
        # The import of rich takes time, which a program that reads Markdown does not need.
        from rich.console import Console  # noqa: PLC0415

        from tidemark.report.terminal import screen_lines  # noqa: PLC0415

        console = Console(highlight=False)
        whole, shown = (screen_lines(each, console) for each in (report, brief(report)))
    else:
        from tidemark.report.markdown import markdown as written  # noqa: PLC0415

        whole, shown = (text.splitlines() for text in (markdown, written(brief(report))))
    print_lines(whole, shown, everything=everything)


def print_run(report: Report, rates: Sequence[dict[str, Any]], *, everything: bool) -> None:
    """Print the report of a run, or as much of it as fits the screen.

    A program that reads the report gets all results.
    """
    from tidemark.report.blocks import brief  # noqa: PLC0415
    from tidemark.report.markdown import plain  # noqa: PLC0415

    if sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415

        from tidemark.report.terminal import screen_lines  # noqa: PLC0415

        console = Console(highlight=False)
        whole = screen_lines(report._replace(title=""), console)
        shown = first_screen(report, rates, console)
    else:
        whole, shown = (plain(each).splitlines() for each in (report, brief(report)))
    print_lines(whole, shown, everything=everything)


def first_screen(report: Report, rates: Sequence[dict[str, Any]], console: Console) -> list[str]:
    """Return the lines of a run's report that fit the screen: its answer, its rates, and the rest.

    The rates are left out if they do not fit.
    """
    from tidemark.cli.rates_table import fitting  # noqa: PLC0415
    from tidemark.report.blocks import brief  # noqa: PLC0415
    from tidemark.report.terminal import drawn_lines, screen_lines  # noqa: PLC0415

    most = max(1, console.height - _BESIDE)
    answer, *rest = report.summary
    lines = screen_lines(report._replace(title="", summary=(answer,), sections=()), console)
    tables = drawn_lines(fitting(rates, console), console)
    if len(lines) + len(tables) <= most:
        lines += tables
    others = tuple(each for each in report.sections if each.heading != _RESULTS)
    more = brief(report._replace(title="", summary=tuple(rest), sections=others))
    lines = [*lines, "", *screen_lines(more, console)][:most]
    return "\n".join(lines).rstrip().split("\n")
