"""A report in Markdown on a terminal, with its verdicts in colour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from tidemark.cli.rates_table import STYLES, fitting
from tidemark.report.folds import unfolded, without_folds
from tidemark.report.marks import marked

# The lines of a screen beside a report: the end of the run, the number of hidden lines, each with
# an empty line, and the prompt.
_BESIDE = 5
_RESULTS = re.compile(r"^## Results\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)


def screen_lines(text: str) -> list[str]:
    """Return Markdown with the contents of its folds as lines of the terminal.

    There is no empty line at the beginning, and none after another one.
    """
    console = Console(highlight=False)
    with console.capture() as rendered:
        console.print(Markdown(unfolded(text)))
    shown = Text.from_ansi(rendered.get(), end="")
    for word, style in STYLES.items():
        shown.highlight_words([marked(word)], style)
    return [_coloured(line, console) for line in _without_repeated_blanks(shown.split())]


def first_screen(text: str, rates: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines of a run's report that fit the screen: its answer, its rates, and the rest.

    The rates are left out if they do not fit. Without ``rates``, as of an older run, return the
    first lines of the report.
    """
    console = Console(highlight=False)
    most = max(1, console.height - _BESIDE)
    if not rates:
        return screen_lines(without_folds(text))[:most]
    answer, _, rest = text.partition("\n\n")
    lines, tables = screen_lines(answer), _drawn(fitting(rates, console), console)
    if len(lines) + len(tables) <= most:
        lines += tables
    lines = [*lines, "", *screen_lines(_RESULTS.sub("", without_folds(rest)))][:most]
    return "\n".join(lines).rstrip().split("\n")


def _drawn(tables: Iterable[Table], console: Console) -> list[str]:
    with console.capture() as drawn:
        for table in tables:
            console.print(table)
    return [line.rstrip() for line in drawn.get().rstrip().split("\n")]


def _without_repeated_blanks(lines: Iterable[Text]) -> Iterator[Text]:
    is_blank = True
    for line in lines:
        line.rstrip()
        if line or not is_blank:
            yield line
        is_blank = not line


def _coloured(line: Text, console: Console) -> str:
    with console.capture() as coloured:
        console.print(line, soft_wrap=True, end="")
    return coloured.get()
