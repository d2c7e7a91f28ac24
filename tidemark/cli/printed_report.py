"""A report in Markdown on a terminal, with its verdicts in colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from tidemark.cli.rates_table import STYLES
from tidemark.report.folds import unfolded
from tidemark.report.marks import marked

# The lines of a screen beside a report: the end of the run, the number of hidden lines, each with
# an empty line, and the prompt.
_BESIDE = 5


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


def most_lines() -> int:
    """Return how many lines of a report fit the terminal beside what a command prints."""
    return max(1, Console().height - _BESIDE)


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
