"""A query over log files, as they are or over copies that DuckDB can read.

Its progress, and its sentences about files, times and damage, are here, too.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cwli.cancellation import interruptible
from cwli.command.arguments import (
    files_at,
    log_name,
    named_as_given,
    on_disk,
    place_of_copy,
    without_copies,
)
from cwli.formats import listed, plural, visible
from cwli.insights import CompiledQuery, EventsError, EventSource, QueryResult, run
from cwli.insights import compile as compile_query
from cwli.insights.engine import ProgressReceiver
from cwli.insights.source import NoLogGroupError, chosen, split_log
from cwli.program import Refused, tell, warn
from cwli.readers.clocks import Beginning, Clock
from cwli.readers.files import Untimed, events_in, inspected, name_groups, untimed_event
from cwli.readers.folders import LogFilesError, skipped_below
from cwli.readers.log_file import TIMED_BY_CLOCKS, LogFile

if TYPE_CHECKING:
    from cwli.readers.mending import Damage, Mended, Mending

_MOST_NAMED = 5
# DuckDB reads less at once, so files of less are neither searched nor read in part.
_SEARCHED_BYTES = 8 * 1024 * 1024
_LOGS = "stats count(*) by @log | display @log"
_TIMES = "stats count(*), fromMillis(min(@timestamp)), fromMillis(max(@timestamp))"
Window = tuple[int | None, int | None]
"""The first and last second of a query [s since 1970-01-01 UTC], None where it has no limit."""


class LogQuery(NamedTuple):
    """A query with its time range and its lookup tables."""

    query: CompiledQuery
    window: Window
    tables: dict[str, Path]
    is_sorted: bool = False
    """Whether the events of each file are in the order of their times."""

    def over_files(
        self,
        paths: tuple[str, ...],
        clock: Clock | None = None,
        begins: Beginning | None = None,
        *,
        strict: bool,
    ) -> QueryResult:
        """Return the result over files, or over copies of those that cannot be read as they are.

        Parameters
        ----------
        paths : tuple of str
            The files.
        clock : Clock, optional
            The clock of each file; by default its first lines choose one.
        begins : callable, optional
            Tells whether a line begins an event; by default the clock does.
        strict : bool
            Whether no damaged file is read.

        Raises
        ------
        Refused
            If the query names a file that is not among the paths, or a file is damaged and shall
            not be.
        LogFilesError, EventsError
            If a file cannot be read.
        """
        with files_at(paths) as (given, folder):
            files = self._parts(given, folder, clock) if self.is_sorted else given
            warn(unread(paths))
            if searched := not strict and self._searched(files, folder, clock, begins):
                with suppress(EventsError):  # a reading of all tells more
                    return self._over(files, clock, searched, found=True)
            failure: LogFilesError | EventsError | None = None
            if begins is None:
                try:
                    return self._over(files, clock, {})
                except (LogFilesError, EventsError) as error:
                    if not all(file.exists() for file in files):
                        raise
                    failure = error
            from cwli.readers.mending import Mending  # noqa: PLC0415 (most queries need no copy)

            mending = Mending(clock, begins)
            return self._over_copies(files, folder, mending, failure, strict=strict)

    def _parts(self, files: list[Path], folder: Path, clock: Clock | None) -> list[Path]:
        """Return the files, of some a copy of the part with the events of the time ranges."""
        from cwli.readers.sorted_files import SortedFiles  # noqa: PLC0415 (few queries need it)

        starts, ends = zip(self.window, *self.query.earlier(*self.window), strict=True)
        first = None if None in starts else min(starts)
        last = None if None in ends else max(ends)
        given = (file for file in files if folder not in file.parents)
        places = {file: place_of_copy(file, folder) for file in given}
        parts = SortedFiles((first, last), clock, _SEARCHED_BYTES).parts(places)
        read = [parts.get(file, file) for file in files]
        part, whole = (sum(file.stat().st_size for file in each) for each in (read, files))
        tell([f"--sorted: {part:,} of {whole:,} bytes are read"])
        return read

    def _searched(
        self, files: list[Path], folder: Path, clock: Clock | None, begins: Beginning | None
    ) -> Mapping[Path, Path | None] | None:
        """Return copies with the events that may pass the filters, None if all are to be read."""
        texts = [text.encode() for text in self.query.plan.prefilter]
        if not texts or self.query.plan.named or _size(files) < _SEARCHED_BYTES:
            return None
        from cwli.readers.searching import NotSearchedError, Search  # noqa: PLC0415

        try:
            search = Search(texts, clock, begins, small=_SEARCHED_BYTES // 8)
            return search.copies(files, folder)
        except (NotSearchedError, OSError):
            return None

    def _over_copies(
        self,
        files: list[Path],
        folder: Path,
        mending: Mending,
        error: LogFilesError | EventsError | None,
        *,
        strict: bool,
    ) -> QueryResult:
        """Return the result over copies; raise the error of the files if none can be read."""
        mended = mending.copies(files, folder)
        if files and not any(mended.copies.values()):
            raise error or LogFilesError(damages(mended)[0])
        if strict and mended.damage:
            raise Refused(f"--strict: {'; '.join(damages(mended))}")
        try:
            result = self._over(files, mending.clock, mended.copies)
        except (LogFilesError, EventsError) as other:
            raise type(other)(named_as_given(str(other), mended.copies)) from None
        tell(told_of_joining(mended))
        hint = "--strict refuses such files"
        warnings = (f"{damage}; {hint}" for damage in damages(mended))
        return result._replace(warnings=(*result.warnings, *warnings))

    def over(self, events: EventSource, named: EventSource) -> QueryResult:
        """Return the result over events; ``named`` has the events of the logs that it names."""
        with reading() as on_progress:
            return interruptible(
                lambda ending: run(
                    self.query,
                    events,
                    *self.window,
                    None,
                    named,
                    self.tables,
                    on_progress,
                    cancellation=ending,
                )
            )

    def named(self, account: str, known: Collection[str]) -> list[str]:
        """Return the log groups that the query names; raise Refused if one does not exist."""
        try:
            return chosen(self.query.plan.named, account, known)
        except NoLogGroupError as error:
            raise Refused(f"{error}; there are {listed(known)}") from None

    def _over(
        self,
        files: list[Path],
        clock: Clock | None,
        copies: Mapping[Path, Path | None],
        *,
        found: bool = False,
    ) -> QueryResult:
        """Return the result; ``found`` tells that a search made the copies."""
        logs = inspected(files, clock, copies, log_name)
        result, events = self._timed(logs, found=found)
        is_empty = self.window != (None, None) and not result.statistics["recordsScanned"]
        if is_empty and not (found or self.is_sorted or self.query.plan.named):
            result = result._replace(warnings=(*result.warnings, *_missed(events)))
        if self.window != (None, None) or self.query.uses_times:
            tell(recognised(logs))
        return result

    def _timed(self, files: Sequence[LogFile], *, found: bool) -> tuple[QueryResult, EventSource]:
        """Return the result and its events; other forms of times are only read if they are needed.

        Raises
        ------
        EventsError
            If an event cannot be read, or one of those that a search found has no time.
        """
        warnings: tuple[str, ...] = ()
        for untimed in Untimed:
            events = replace(events_in(files, untimed=untimed), found=found)
            self._check_named(files, events)
            try:
                result = self.over(events, events)
                break
            except EventsError as error:
                event = untimed_event(error)
                if found or event is None:
                    raise
                warnings = (_borrowed(event),) if untimed is Untimed.OTHER_FORM else ()
        warnings = (*result.warnings, *warnings, *events.notes)
        return result._replace(warnings=warnings), events

    def _check_named(self, files: Sequence[LogFile], events: EventSource) -> None:
        """Raise Refused if the query names log groups that neither files nor their events have."""
        if not self.query.plan.named:
            return
        logs = [file.name for file in files]
        if name_groups(files):
            rows = LogQuery(compile_query(_LOGS), (None, None), {}).over(events, events).rows
            logs = [row[0]["value"] for row in rows]
        accounts, groups = zip(*map(split_log, logs), strict=True) if logs else ((), ())
        one = accounts[0] if len({*accounts}) == 1 else ""
        self.named(one, list(dict.fromkeys(groups)))


def _size(files: Sequence[Path]) -> int:
    """Return the size of files, 0 if one is missing: its reading tells more."""
    try:
        return sum(file.stat().st_size for file in files)
    except OSError:
        return 0


def _borrowed(event: str) -> str:
    """Return a warning about events that have the time of another, such as this one."""
    return (
        "events without a time have the time of the event before, or else of the first event "
        f"with a time, such as in {visible(event)}"
    )


def _missed(events: EventSource) -> list[str]:
    """Return a warning with the times of the events, which are all outside the time range."""
    with suppress(EventsError):  # the result says enough
        rows = LogQuery(compile_query(_TIMES), (None, None), {}).over(events, events).rows
        return [_sentence(*(cell["value"] for cell in row)) for row in rows]
    return []


def _sentence(number: str, first: str, last: str) -> str:
    if number == "1":
        return f"the only event is not in the time range; it is of {first}"
    return f"none of {int(number):,} events is in the time range; they are from {first} to {last}"


@contextmanager
def reading() -> Iterator[ProgressReceiver | None]:
    """Show the progress of a query on standard error if it is a terminal; yield its receiver."""
    if not sys.stderr.isatty():
        yield None
        return
    # rich takes as long to import as a small query takes.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading events", total=100)
        yield lambda percentage: progress.update(task, completed=percentage)


def unread(paths: Iterable[str]) -> list[str]:
    """Return a sentence for each folder with files that are not read."""
    folders = (path for path in on_disk(paths) if path.is_dir())
    skipped = {folder: skipped_below(folder) for folder in folders}
    return [
        f"{folder}: {plural(len(files), 'file')} not read: "
        f"{_first([_within(folder, file) for file in files])}; name a file to read it"
        for folder, files in skipped.items()
        if files
    ]


def _within(folder: Path, path: Path) -> str:
    """Return a path relative to a folder, with a slash after it if it is a folder, too."""
    return f"{path.relative_to(folder)}{'/' if path.is_dir() else ''}"


def recognised(files: Iterable[LogFile]) -> list[str]:
    """Return sentences that say how times are recognised, and where none are."""
    texts = [file for file in files if file.form in TIMED_BY_CLOCKS and file.size]
    names = dict.fromkeys(file.clock.description for file in texts if file.clock and file.is_timed)
    without = [without_copies(str(file.original)) for file in texts if not file.is_timed]
    likely = (file.likely for file in texts if file.likely)
    hint = next(likely, "--time-field or --time-format may name the times")
    sentences = [f"times of lines: {listed(list(names))}"] if names else []
    if without:
        sentences.append(
            f"warning: no time is found in {_first(without)}; its lines have the time of the "
            f"file's last change; {hint}"
        )
    return sentences


def damages(mended: Mended) -> list[str]:
    """Return the count of each kind of damage, and the place of the first."""
    return [
        _damage(kind, number, without_copies(mended.first[kind]))
        for kind, number in mended.damage.items()
    ]


def _damage(kind: Damage, number: int, first: str) -> str:
    one, several = kind.value
    return f"1 {one}: {first}" if number == 1 else f"{number:,} {several}, the first: {first}"


def told_of_joining(mended: Mended) -> list[str]:
    """Return a sentence that counts the lines that belong to the event of a line before."""
    return [f"lines joined to the event before: {mended.joined:,}"] if mended.joined else []


def _first(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} others" if more > 0 else "")
