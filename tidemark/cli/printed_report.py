"""A report in Markdown on a terminal, with its verdicts in colour."""

from __future__ import annotations

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from tidemark.cli.rates_table import STYLES
from tidemark.report.folds import unfolded
from tidemark.report.marks import marked


def print_report(text: str) -> None:
    """Print Markdown with the contents of its folds."""
    console = Console(highlight=False)
    with console.capture() as rendered:
        console.print(Markdown(unfolded(text)))
    shown = Text.from_ansi(rendered.get(), end="")
    for word, style in STYLES.items():
        shown.highlight_words([marked(word)], style)
    console.print(shown, soft_wrap=True)
