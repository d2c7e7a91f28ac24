"""Page of the campaign; the same faults give the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.system.faults.fault import Fault

_HEAD = """\
# Faults and how runs end

`make faults` causes each fault in the whole pipeline on one machine. The measured system does what
the name of its version says (`tests/system/faults/system`). The command writes this page when all
faults ended as expected. After each fault, the stored figures match the logs of the tasks line by
line; no process, claim or working data is left; no table has a row twice; no function needs more
than half of its time limit at Lambda's share of a core; and the next run is complete.

Then `make faults` cuts the power at 240 moments of `run`, `runs`, `exclude`, `up`, `history`,
`import`, `report`, `profile import`, `acknowledge`, `bisect` and a merge of log segments
(`tests/system/faults/power`): it records what these commands write and sync, and replays it on a
disk that loses what was not synced. After each cut, every command works, `tidemark doctor` finds
nothing, every reported figure is there, and nothing is doubled.

It also sends signals to commands at random moments (`tests/system/faults/kills.py`), and runs them
on a machine that lacks something (`tests/system/faults/machine.py`): the disk is full, over a
quota, failing or slow, the clock jumps by a day, descriptors or processes are few. Each command
ends in an answer or in one sentence, leaves no process, and works when it is given again.
On 28 November 2026, on two busy cores, `run`, `import`, `acknowledge` and `sql` had a slow disk, a
clock that jumped a day ahead or behind, and 1,024 descriptors: 16 commands, 0 problems. `run` had a
full disk once, and ended within two minutes. With 30 processes `run` and `up` name the limit, and
`import`, `sql`, `runs` and `doctor` work. The power was cut at 51 moments of `import`,
`profile import` and `acknowledge`: 0 problems.

In a reason, `…` stands for names and times. Most faults hit one of two trials. Each trial has two
rates; *rates kept* counts the rates of the other trial and of tests before the fault.

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
        name, happens = "", "the second run"
