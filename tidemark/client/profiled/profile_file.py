"""The profile of a file in any of the accepted forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from tidemark.client.profiled.flame_graph import drawn_frames
from tidemark.client.profiled.perf_script import add_perf_script, is_perf_script
from tidemark.client.profiled.pprof import add_pprof
from tidemark.client.profiled.towers import add_drawn
from tidemark.figures.profiles.folded_stacks import Stacks
from tidemark.store.profiles.file_content import Content, Unreadable, opened
from tidemark.store.profiles.folded import SAMPLES, Tally, add_folded

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
        If the file is no whole profile, has no samples, or is too large.

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
    if is_perf_script(_first_line(beginning)):
        return "perf script", *add_perf_script(content, tally)
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
