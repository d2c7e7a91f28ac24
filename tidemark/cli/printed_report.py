"""A printed report: its results alone, or everything with ``--all``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tidemark.model.sentences import plural

if TYPE_CHECKING:  # a command that prints no report does not import it
    from rich.console import Console

    from tidemark.report.blocks import Report, Table

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


def print_run(report: Report, *, everything: bool) -> None:
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
        shown = first_screen(report, console)
    else:
        whole, shown = (plain(each).splitlines() for each in (report, brief(report)))
    print_lines(whole, shown, everything=everything)


def rates(report: Report, *, exact: bool = False) -> Table | None:
    """Return the table of a run's rates, with all digits or those that their spreads support."""
    from tidemark.report.blocks import Details, Table  # noqa: PLC0415
    from tidemark.report.run_report.versions import ALL_DIGITS  # noqa: PLC0415

    blocks = [each for section in report.sections if section.heading == _RESULTS
              for each in section.blocks]  # fmt: skip
    whole = [
        each.blocks for each in blocks if isinstance(each, Details) and each.name == ALL_DIGITS
    ]
    shown = whole[0] if exact and whole else blocks
    return next((each for each in shown if isinstance(each, Table)), None)


def first_screen(report: Report, console: Console) -> list[str]:
    """Return the lines of a run's report that fit the screen: its answer, its rates, and the rest.

    The rates are left out if they do not fit.
    """
    from tidemark.report.blocks import Bullets, Report, brief  # noqa: PLC0415
    from tidemark.report.terminal import screen_lines  # noqa: PLC0415

    most = max(1, console.height - _BESIDE)
    first = 2 if any(isinstance(each, Bullets) for each in report.summary[1:2]) else 1
    answer, rest = report.summary[:first], report.summary[first:]
    lines = screen_lines(Report("", answer, ()), console)
    table = rates(report)
    tables = screen_lines(Report("", (table,), ()), console) if table else []
    if len(lines) + len(tables) < most:
        lines += ["", *tables]
    others = tuple(each for each in report.sections if each.heading != _RESULTS)
    more = brief(report._replace(title="", summary=rest, sections=others))
    lines = [*lines, "", *screen_lines(more, console)][:most]
    return "\n".join(lines).rstrip().split("\n")
