"""The text of ``perf script``: a header for each sample, and its frames below, the leaf first.

Source: perf-script(1), and FlameGraph's stackcollapse-perf.pl for the names of frames.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from tidemark.figures.profiles.folded_stacks import folded
from tidemark.model.sentences import shown
from tidemark.store.profiles.file_content import Content
from tidemark.store.profiles.tally import Tally
from tidemark.store.profiles.unreadable import unreadable_at

# rocksdb:low 4242/4251 [007] 158665.570607:     250000 cpu-clock:pppH:
_HEADER = re.compile(
    r"(?P<command>\S.*?)\s+\d+(?:/\d+)?\s+(?:\[\d+\]\s+)?(?:\S+\s+)?(?:\d+\.\d+:\s+)?"
    r"(?:\d+\s+)?(?P<event>\S+):\s*(?P<frame>\S.*)?"
)
#     7f5c8d0a1b2c rocksdb::DBIter::Next()+0x1c (/usr/lib/librocksdb.so)
_FRAME = re.compile(r"\s*[0-9a-f]+ (?P<symbol>.*) \((?P<object>(?:[^()]|\(deleted\))*)\)\s*")
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_UNKNOWN = "[unknown]"


def is_perf_script(line: str) -> bool:
    """Tell whether a line is the header of a sample."""
    return _HEADER.fullmatch(line) is not None


def add_perf_script(content: Content, tally: Tally) -> None:
    """Add one sample for each header; the command is the lowest frame.

    Raises
    ------
    Unreadable
        If a line has another form, or the samples are of several events.

    """
    events, frames, command = set[str](), list[str](), None
    for number, line in content.lines():
        if line[:1].isspace() and line.strip():
            frames.append(_frame(number, line, command))
        elif line and not line.startswith("#"):
            _add(tally, command, frames)
            header = _HEADER.fullmatch(line)
            if header is None:
                raise unreadable_at(number, f"{shown(line)} is no sample of perf script")
            command, events = header["command"], events | {header["event"]}
            frames = [_frame(number, header["frame"], command)] if header["frame"] else []
        if len(events) > 1:
            both = " and ".join(sorted(events))
            raise unreadable_at(number, f"the samples are of {both}; expected one event")
    _add(tally, command, frames)


def _add(tally: Tally, command: str | None, frames: Sequence[str]) -> None:
    if command is not None:
        tally.add(folded([command.replace(" ", "_"), *reversed(frames)]), 1)


def _frame(number: int, line: str, command: str | None) -> str:
    found = _FRAME.fullmatch(line)
    if found is None or command is None:
        raise unreadable_at(number, f"{shown(line)} is no frame of perf script")
    symbol = _OFFSET.sub("", found["symbol"])
    if symbol != _UNKNOWN or found["object"] in {"", _UNKNOWN}:
        return symbol
    name = PurePosixPath(found["object"].removesuffix(" (deleted)")).name
    return f"[{name.strip('[]')}]"
