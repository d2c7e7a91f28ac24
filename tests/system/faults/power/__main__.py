"""``python -m tests.system.faults.power``: cut the power at many moments of some commands.

The file operations of real commands are recorded with strace and replayed on a disk that loses
what was not synced. At each cut, every command must work, nothing that was reported may be lost
and nothing be doubled. The exit code is 1 if a cut has a problem. ``--cuts`` sets their number,
``--seed`` chooses them. Names select commands; ``report`` and ``exclude`` need ``run`` beside them,
``acknowledge`` needs ``import``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from onebox.cloud.deployment import synthesise
from tests.system.faults.kills import first_run, words
from tests.system.faults.power.disk import Disk
from tests.system.faults.power.judging import NOTHING, Contents, problems
from tests.system.faults.power.recording import Replay, record, traced
from tidemark.model.checkout import ROOT
from tidemark.one_machine.app import machine_app

_TIDEMARK = Path(sys.executable).with_name("tidemark")
_RUN = ["--versions", "9.0.0", "--repetitions", "2", "--set", "records=2000"]
_COMMANDS = (
    *("run", "runs", "exclude", "up", "merge", "history"),
    *("import", "report", "profile import", "acknowledge", "bisect"),
)
# No figure is in a task's own folder; every start makes the note of the cloud again.
_WITHOUT = ("tasks", "cloud.")


class Recorded:
    """A command whose file operations are recorded, and the contents before and after it."""

    def __init__(self, name: str, log: Path, state: Path, before: Contents) -> None:
        self.name, self.log, self.before = name, log, before
        self.after = Contents.of(state)


def main() -> int:
    """Record the commands, cut the power and print what is wrong; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.system.faults.power", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="COMMAND", help=f"of {', '.join(_COMMANDS)}")
    parser.add_argument("--cuts", type=int, default=240)
    parser.add_argument("--seed", type=int, default=15)
    arguments = parser.parse_args()
    os.environ["TIDEMARK_BESIDE_OTHERS"] = "1"  # no figure counts
    if shutil.which("strace") is None:
        sys.exit("strace is needed; `sudo apt-get install strace` installs it")
    chance = Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="tidemark-power-") as folder:
        state = Path(folder) / "state"
        synthesise(state, machine_app())
        disk = Disk()
        disk.load(state)
        commands = list(_commands(arguments.names or _COMMANDS, Path(folder), state))
        found = [
            problem
            for command in commands
            for problem in _cut(command, disk, state, -(-arguments.cuts // len(commands)), chance)
        ]
    for problem in found:
        print(problem)
    print(f"{arguments.cuts} cuts of the power, {len(found)} problems.")
    return int(bool(found))


def _commands(names: Sequence[str], folder: Path, state: Path) -> Iterator[Recorded]:
    before, runs = NOTHING, {"run": "", "import": ""}
    for number, name in enumerate(name for name in _COMMANDS if name in names):
        log = folder / f"{number}.strace"
        output = _record(name, log, state, runs)
        if name in runs:
            runs[name] = first_run(output)
        command = Recorded(name, log, state, before)
        before = command.after
        yield command


def _record(name: str, log: Path, state: Path, runs: Mapping[str, str]) -> str:
    place = ["--state", str(state)]
    match name:
        case "run":
            return record(log, [_TIDEMARK, "run", *_RUN, *place], ROOT)
        case "up":
            return _record_up(log, place)
        case "merge":
            program = [sys.executable, "-m", "tests.system.faults.power.merging", str(state)]
            return record(log, program, ROOT)
    command = words(name, 0, log.parent, runs["run"], runs["import"])
    return record(log, [_TIDEMARK, *command, *place], ROOT)


def _record_up(log: Path, place: list[str]) -> str:
    command = traced(log, [_TIDEMARK, "up", *place])
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("Ctrl-C"):
                break
        (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGTERM)
        return process.stdout.read()


def _cut(command: Recorded, disk: Disk, state: Path, cuts: int, chance: Random) -> Iterator[str]:
    """Replay a command, and yield the problems after power failures at some of its moments."""
    replay = Replay(disk, state, _WITHOUT)
    steps = replay.steps(command.log)
    moments = Counter(chance.choices(range(len(steps)), k=cuts))
    print(f"{command.name}: {cuts} cuts in {len(steps):,} calls", flush=True)
    for number, step in enumerate(steps):
        step()
        for _ in range(moments[number]):
            with tempfile.TemporaryDirectory() as image:
                disk.fail(Path(image), chance)
                for problem in problems(Path(image), command.before, command.after, replay.trials):
                    yield f"{command.name}, after call {number} of {len(steps)}: {problem}"


if __name__ == "__main__":
    sys.exit(main())
