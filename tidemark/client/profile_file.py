"""The profile of a file in any of the accepted forms; the text of ``perf script`` is read here.

That text has a header for each sample, and its frames below, the leaf first. Source:
perf-script(1), and FlameGraph's stackcollapse-perf.pl for the names of frames.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from tidemark.client.flame_graph import add_drawn, drawn_frames
from tidemark.client.pprof import add_pprof
from tidemark.figures.profiles.folded_stacks import Stacks, folded
from tidemark.model.sentences import shown
from tidemark.store.folded_file import (
    SAMPLES,
    Content,
    Tally,
    Unreadable,
    add_folded,
    opened,
    unreadable_at,
)

# rocksdb:low 4242/4251 [007] 158665.570607:     250000 cpu-clock:pppH:
_HEADER = re.compile(
    r"(?P<command>\S.*?)\s+\d+(?:/\d+)?\s+(?:\[\d+\]\s+)?(?:[^\s\d]\S*\s+)?(?:\d+\.\d+:\s+)?"
    r"(?:(?P<period>\d+)\s+)?(?P<event>\S+):\s*(?P<frame>\S.*)?"
)
#     7f5c8d0a1b2c rocksdb::DBIter::Next()+0x1c (/usr/lib/librocksdb.so)
_FRAME = re.compile(r"\s*[0-9a-f]+ (?P<symbol>.*) \((?P<object>(?:[^()]|\(deleted\))*)\)\s*")
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_UNKNOWN = "[unknown]"
_SEVERAL = 3
"""The number of different periods after which no more are kept."""
Form = Literal["folded", "perf script", "pprof", "SVG"]
FORMS = "folded stacks, perf script, pprof or a flame graph as an SVG"
_BEGINNING = 4096  # [B]
_MILLIONTHS = "millionths of a sample"
"""The unit of counts with fractions."""
_MOST_AT_ONCE = 64 << 20  # [B]
# The signatures of what profilers write and Tidemark does not read, and how to write another form.
_FOREIGN: Mapping[bytes, str] = {
    b"PERFILE2": "it is perf.data; `perf script` writes its text",
    b"FLR\0": "it is a recording of Java's Flight Recorder; async-profiler's jfrconv folds it",
}
# Texts have no control characters but tabs, line ends and escapes, which names of threads may have.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a]")


class ReadProfile(NamedTuple):
    """The samples of a file."""

    stacks: Stacks
    form: Form
    unit: str
    """The unit of the samples, such as ``samples``."""
    drawn: int | None = None
    """The number of samples that were drawn, None if the file does not tell it."""


def read_profile(file: Path) -> ReadProfile:
    """Return the profile of a file, whose content tells its form.

    Raises
    ------
    Unreadable
        If the file is not a whole profile, has no samples, or is too large.

    """
    tally = Tally()
    with opened(file) as content:
        form, unit, drawn = _add(content, tally)
    if not tally.stacks:
        raise Unreadable("it has no samples")
    return ReadProfile(tally.stacks, form, unit, drawn)


def _add(content: Content, tally: Tally) -> tuple[Form, str, int | None]:
    """Add the samples of a file; return its form, the unit and the number of the samples."""
    beginning = content.beginning(_BEGINNING)
    for signature, advice in _FOREIGN.items():
        if beginning.startswith(signature):
            raise Unreadable(f"{advice}; expected {FORMS}")
    if not beginning.strip():
        raise Unreadable(f"it is empty; expected {FORMS}")
    if _BINARY.search(beginning):
        return "pprof", add_pprof(content.whole(_MOST_AT_ONCE), tally), None
    if beginning.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        frames, unit = drawn_frames(content)
        add_drawn(frames, tally)
        return "SVG", unit, None
    if _HEADER.fullmatch(_first_line(beginning).lstrip()):
        return "perf script", *_add_perf_script(content, tally)
    # Editors and some tools leave out the end of the last line.
    content.may_end_within_line = True
    add_folded(content, tally)
    if tally.scale == 1:
        return "folded", SAMPLES, None
    return "folded", _MILLIONTHS, max(1, tally.stacks.total() // tally.scale)


def _first_line(beginning: bytes) -> str:
    """Return the first line that is neither empty nor a remark of perf."""
    lines = beginning.decode(errors="replace").splitlines()
    return next((line for line in lines if line.strip() and not line.startswith("#")), "")


class _Samples:
    """The samples of a file while it is read."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._header: re.Match[str] | None = None
        self._frames: list[str] = []
        self._events = set[str]()
        self._periods = set[int | None]()
        self.number = 0

    def begin(self, number: int, header: re.Match[str]) -> None:
        """Begin a sample; add the one before."""
        self.end()
        self._header, self._frames = header, []
        self.number += 1
        self._events.add(header["event"])
        if len(self._events) > 1:
            both = " and ".join(sorted(self._events))
            raise unreadable_at(number, f"the samples are of {both}; expected one event")
        if len(self._periods) < _SEVERAL:
            self._periods.add(int(header["period"]) if header["period"] else None)
        if None in self._periods and (len(self._periods) > 1 or header["period"]):
            raise unreadable_at(number, "only some samples have a period; expected all or none")
        if header["frame"]:
            self.add_frame(number, header["frame"])

    def add_frame(self, number: int, line: str) -> None:
        found = _FRAME.fullmatch(line)
        if found is None or self._header is None:
            raise unreadable_at(number, f"{shown(line)} is not a frame of perf script")
        self._frames.append(_name(found))

    def end(self) -> None:
        """Add the sample that has begun, with its period as its weight."""
        if self._header:
            command = self._header["command"].replace(" ", "_")
            stack = folded([command, *reversed(self._frames)])
            self._tally.add(stack, int(self._header["period"] or 1))

    def unit(self) -> str:
        """Return the unit of the weights; equal weights count as one sample each."""
        periods = self._periods - {None, 0}
        if len(periods) > 1:
            (event,) = self._events
            return event.partition(":")[0]
        for period in filter(None, periods):
            self._tally.divide(period)
        return SAMPLES


def _add_perf_script(content: Content, tally: Tally) -> tuple[str, int]:
    """Add the samples, with their periods as weights; return the unit and the number of samples.

    The command is the lowest frame. Where perf prints no periods, or equal periods, each sample
    counts once.
    """
    samples = _Samples(tally)
    stacks_follow = True
    for number, line in content.lines():
        if not line.strip() or line.startswith("#"):
            continue
        if not samples.number:
            stacks_follow = not line[:1].isspace()
        if stacks_follow and line[:1].isspace():
            samples.add_frame(number, line)
        elif header := _HEADER.fullmatch(line.lstrip()):
            samples.begin(number, header)
        else:
            raise unreadable_at(number, f"{shown(line)} is not a sample of perf script")
    samples.end()
    return samples.unit(), samples.number


def _name(found: re.Match[str]) -> str:
    symbol = _OFFSET.sub("", found["symbol"])
    if symbol != _UNKNOWN or found["object"] in {"", _UNKNOWN}:
        return symbol
    name = PurePosixPath(found["object"].removesuffix(" (deleted)")).name
    return f"[{name.strip('[]')}]"
