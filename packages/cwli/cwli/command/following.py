"""``cwli --follow``: the rows of events as files get them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from cwli.command.paths import STANDARD_INPUT, damages
from cwli.formats import show, visible
from cwli.insights import CompiledQuery, run
from cwli.insights import compile as compile_query
from cwli.program import Refused, warn
from cwli.readers.clocks import Beginning, Clock
from cwli.readers.files import log_files
from cwli.readers.mending import Mending
from cwli.readers.tails import Tails
from cwli.readers.timing import Untimed

_PAUSE_SECONDS = 1.0
_wait = partial(time.sleep, _PAUSE_SECONDS)


def check_following(
    query: CompiledQuery, paths: tuple[str, ...], form: str, others: Mapping[str, object]
) -> None:
    """Raise Refused if files cannot be followed with these arguments.

    ``others`` has the values of options that have no effect, false or None if they are not given.
    """
    if not query.per_event:
        raise Refused(
            "--follow: each row must come from one event; leave out stats, sort, limit and the like"
        )
    if not paths or STANDARD_INPUT in paths:
        raise Refused("--follow: expected a file or a folder as PATH")
    if form not in ("table", "ndjson"):
        raise Refused(f"--format: {form!r} is not accepted with --follow; expected table or ndjson")
    for option, value in others.items():
        if value:
            raise Refused(f"{option} has no effect with --follow; leave it out")


@dataclass(frozen=True)
class Following:
    """A query over the events that files get from now on."""

    query: CompiledQuery
    clock: Clock | None
    begins: Beginning | None
    tables: dict[str, Path]
    form: str

    def run(
        self,
        paths: tuple[str, ...],
        wait: Callable[[], None] = _wait,
    ) -> None:
        """Print the rows of each new event, until Ctrl-C.

        Raises
        ------
        LogFilesError
            If a file cannot be read, or is packed.
        """
        warn(self.query.plan.warnings)
        # The newest rows are else the first.
        in_order = compile_query(f"{self.query.text}\n| sort @ptr")
        files = [Path(path) for path in paths]
        with Tails(files, self.clock, self.begins) as tails:
            while True:
                wait()
                self._show_new(in_order, tails)

    def _show_new(self, query: CompiledQuery, tails: Tails) -> None:
        with TemporaryDirectory(prefix="cwli-follow-") as folder:
            parts = dict(_parts(tails, Path(folder)))
            if parts:
                self._show(query, parts, Path(folder))

    def _show(self, query: CompiledQuery, parts: dict[Path, Path], folder: Path) -> None:
        """Print the rows of the events in parts of files."""
        mended = Mending(self.clock, self.begins).copies(parts.values(), folder)
        copies = {file: mended.copies[part] for file, part in parts.items()}
        events = log_files(parts, clock=self.clock, copies=copies, untimed=Untimed.BORROWED)
        result = run(query, events, tables=self.tables)
        warn(damage.replace(f"{folder}/", "") for damage in damages(mended))
        columns = [column for column in result.columns if column != "@ptr"]
        rows = [{cell["field"]: cell["value"] for cell in row} for row in result.rows]
        if self.form == "table":
            for row in rows:
                click.echo(visible("  ".join(row.get(column, "") for column in columns)))
        elif rows:
            show(columns, rows, self.form)


def _parts(tails: Tails, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each file with new events, and a file that has these alone."""
    for number, (file, lines) in enumerate(tails.events()):
        part = folder / f"{number}-{file.name}"
        part.write_bytes(lines)
        yield file, part
