"""The times of the events in log files, also of those without one."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from cwli.insights.engine import EventsError
from cwli.readers.clocks import once
from cwli.readers.log_file import LogFile, change_times_of, log_of, timed_later_of

_UNTIMED = "an event without a time: "
# DuckDB streams this, so that a query takes no more memory for it.
_BORROWED = (
    "last_value(list_transform([{}], lambda t: CASE WHEN t IS NOT NULL THEN "
    "{{'file': filename, 'time': t}} END)[1] IGNORE NULLS) "
    "OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
)


class Untimed(Enum):
    """The treatment of an event whose time the clock of its file cannot read."""

    REFUSED = auto()
    """A query that needs its time fails."""
    OTHER_FORM = auto()
    """It has its time in another form; without one, a query that needs it fails."""
    BORROWED = auto()
    """It has its time in another form, or else the time of the event before."""


def timed(files: Sequence[LogFile], rows: str, text: str, untimed: Untimed) -> tuple[str, str]:
    """Return rows of events that are alike, and SQL for the time of each [ms since 1970].

    Parameters
    ----------
    files : sequence of LogFile
        The files of the events.
    rows : str
        The operand of FROM, with the column ``filename``, in the order of the events.
    text : str
        SQL for the text that has the time.
    untimed : Untimed
        What becomes of an event whose time the clock cannot read.
    """
    clock, change_time = files[0].clock, change_times_of(files)
    time = clock.sql(text, change_time) if clock else "NULL"
    if clock and untimed is not Untimed.REFUSED:
        time = f"coalesce({time}, {clock.other_sql(text, change_time)})"
    if clock and files[0].is_timed and untimed is Untimed.BORROWED:
        rows = f"(SELECT *, {_BORROWED.format(time)} AS borrowed FROM {rows})"  # noqa: S608
        time = "CASE WHEN borrowed.file = filename THEN borrowed.time END"
        if any(file.timed_later for file in files):
            first = once(timed_later_of(files), clock.sql("t", change_time))
            time = f"coalesce({time}, {first})"
    elif files[0].is_timed:
        event = f"{log_of(files)} || ': ' || left({text}, 60)"
        time = f"coalesce({time}, error('{_UNTIMED}' || {event}))"
    return rows, f"coalesce({time}, {change_time})"


def untimed_event(error: EventsError) -> str | None:
    """Return the file and the text of the event whose lack of a time is an error, else None."""
    _, found, event = str(error).partition(_UNTIMED)
    return event if found else None
