"""The output of commands: rows in the forms of cwli, and files."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwli import formats
from cwli.formats import Rows, are_numbers, option_of, visible_cells
from onebox.disk import sync_folder
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed

if TYPE_CHECKING:
    from tidemark.report.blocks import Table

format_option = option_of(["table", "markdown", "csv", "json", "ndjson"])


def show(columns: Sequence[str], rows: Rows, form: str) -> None:
    """Print rows as `cwli.formats.show` does, or as Markdown.

    On a terminal that is too narrow for a table, the first cell of a row stands above the others.
    """
    if form == "markdown":
        click.echo(_markdown(columns, rows), nl=False)
    elif form == "table" and is_too_wide(columns, rows):
        # The imports take time, which few outputs need.
        from rich.console import Console  # noqa: PLC0415

        from tidemark.report.terminal import print_blocks  # noqa: PLC0415

        print_blocks([_table(columns, rows)], Console(highlight=False))
    else:
        formats.show(columns, rows, form)


def is_too_wide(columns: Sequence[str], rows: Rows) -> bool:
    """Tell whether rows would have broken words on the terminal; a program has no width."""
    if not sys.stdout.isatty() or not rows:
        return False
    from tidemark.report.terminal import breaks_words  # noqa: PLC0415

    return breaks_words(_table(columns, rows), shutil.get_terminal_size().columns - _EDGES)


def _table(columns: Sequence[str], rows: Rows) -> Table:
    from tidemark.report.blocks import Row, Table  # noqa: PLC0415

    cells = visible_cells(columns, rows)
    numbers = frozenset(column for column in columns if are_numbers(cells[column]))
    return Table("", tuple(columns), tuple(map(Row, zip(*cells.values(), strict=True))), numbers)


def _markdown(columns: Sequence[str], rows: Rows) -> str:
    from tidemark.report.markdown import table_lines  # noqa: PLC0415 (few outputs are Markdown)

    return "".join(f"{line}\n" for line in table_lines(_table(columns, rows)))


_EDGES = 2  # characters at the sides of a table
PICTURES = (".svg", ".png")
"""The endings of pictures."""
_PAGES = (".html", ".htm", "")


def check_folder(output: Path | None) -> None:
    """Refuse a file in a folder that does not exist, before the work for its content."""
    if output and not output.parent.is_dir():
        raise Refused(f"--output: there is no folder {output.parent}")


def is_picture(output: Path | None) -> bool:
    """Tell whether a file is named as a picture."""
    return output is not None and output.suffix in PICTURES


def check_picture(_: click.Context, parameter: click.Parameter, output: Path | None) -> Path | None:
    """Refuse a file that is not named as a picture."""
    if output and not is_picture(output):
        raise Refused(
            f"{parameter.opts[0]}: {output} is not a picture; expected a name that ends in "
            f"{listed(PICTURES)}"
        )
    return output


def check_page(_: click.Context, parameter: click.Parameter, output: Path | None) -> Path | None:
    """Refuse a file whose name does not have the ending of a page."""
    if output and output.suffix not in _PAGES:
        expected = "expected a name that ends in .html"
        raise Refused(f"{parameter.opts[0]}: {output} is not a page; {expected}")
    return output


def save(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; make its folder if needed.

    A link is followed, and an existing file keeps its mode. A device or pipe is written directly.

    Raises
    ------
    Refused
        If the file cannot be written.
    OSError
        If the disk is full, or fails.

    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        path = Path(os.path.realpath(path))  # Path.resolve also raises RuntimeError
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".unfinished-") as folder:
            temporary = Path(folder) / path.name
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            temporary.replace(path)
        # The command names the file, so a power failure must not lose it.
        sync_folder(path.parent)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EIO}:
            raise
        raise Refused(f"{path} cannot be written: {error.strerror}") from None
