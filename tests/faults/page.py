"""The page of the campaign: the same faults give the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.faults.fault import Fault

_HEAD = """\
# What goes wrong, and what comes of it

`make faults` brings each of these about through the whole pipeline on one machine, over a system
that does what the name of its version says (`tests/faults/system`), and writes this page when all
of them ended as it says. After each one the figures that were kept are those that its tasks had
logged, compared line by line; no process, claim or working data was left; no row was there twice;
and the next run was complete.

In a reason `…` stands for names and times. Most faults meet one of two trials, whose two rates
each are *rates kept* if the trial, or its first test, is not the one that the fault meets.

| fault | what happens | the run ends as | its reason | rates kept |
|---|---|---|---|---|
"""


def page(faults: Sequence[Fault]) -> str:
    """Return the page as Markdown."""
    return _HEAD + "".join(line for fault in faults for line in _lines(fault))


def _lines(fault: Fault) -> Iterator[str]:
    name, happens = f"`{fault.name}`", fault.happens
    if not fault.endings:
        yield f"| {name} | {happens} | no run begins | | |\n"
    for ending in fault.endings:
        reason = ending.reason.replace("|", "\\|")
        status = ending.status or "no outcome"
        yield f"| {name} | {happens} | {status} | {reason} | {ending.kept} |\n"
        name, happens = "", "the run beside it"
