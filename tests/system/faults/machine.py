"""``python -m tests.system.faults.machine``: commands on a machine that lacks something.

The disk is full, over a quota, failing or slow; the clock jumps by a day; descriptors or processes
are few. Each command ends in an answer or in one sentence, with an exit code of
docs/troubleshooting.md. Nothing stored is lost or doubled, and the same command works afterwards.
A library that gcc makes, loaded into every process, has the disk and the clock. ``--tries`` sets
the random moments of each lack and command, ``--seed`` chooses them. The exit code is 1 if there is
a problem.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.system.faults.kills import Scene, doubled_rows, empty_reports, left
from tests.system.faults.power.judging import Contents, problems
from tidemark.model.checkout import ROOT

_LIBRARY = Path(__file__).with_name("lacking.c")
# The cloud starts its functions and tasks without the variables of this process.
_PROGRAM = """
import os
from onebox.cloud import processes
own = processes.clean_environment
lacking = {name: os.environ[name] for name in ("LD_PRELOAD", "LACKING", "LACKING_PLACE")}
processes.clean_environment = lambda: {**own(), **lacking}
from tidemark.cli import main
main()
"""
_COMMANDS = ("run", "import", "report", "profile import", "acknowledge", "exclude", "sql")
_CODES = {0, 1, 2, 4}
_LONGEST_SECONDS = 300
_MOST_LINES = 12
_DAY_SECONDS = 86_400
_ENOUGH = 1 << 40
_SLOW_MICROSECONDS = 20_000
# The kernel counts the processes of every user but root. access(2) takes the rights of another user
# into account only with this bit; without it each command refuses the folder as unreadable.
_RIGHTS = "+dac_override,+fowner"
_NOBODY = (
    *("setpriv", "--reuid=65534", "--clear-groups", "--securebits=+no_setuid_fixup"),
    *(f"--inh-caps={_RIGHTS}", f"--ambient-caps={_RIGHTS}"),
)


class Numbers(NamedTuple):
    """The numbers that the library reads, in its order."""

    jump: int = 0
    error: int = 0
    before: int = 0
    delay: int = 0


class Lack(NamedTuple):
    """What the machine lacks."""

    name: str
    error: int = 0
    jump: int = 0
    delay: int = 0
    before: Sequence[str] = ()
    """The words before the command, of a program that limits it."""
    codes: frozenset[int] = frozenset(_CODES)
    random: bool = False
    """Whether it begins at a random moment."""


LACKS = (
    Lack("a full disk", error=errno.ENOSPC, random=True),
    Lack("a quota", error=errno.EDQUOT, random=True),
    Lack("a failing disk", error=errno.EIO, random=True),
    Lack("a slow disk", delay=_SLOW_MICROSECONDS, codes=frozenset({0})),
    Lack("a clock a day ahead", jump=_DAY_SECONDS, random=True),
    Lack("a clock a day behind", jump=-_DAY_SECONDS, random=True),
    Lack("1,024 descriptors", before=("prlimit", "--nofile=1024"), codes=frozenset({0})),
    Lack("48 descriptors", before=("prlimit", "--nofile=48")),
    Lack("30 processes", before=(*_NOBODY, "prlimit", "--nproc=30")),
)


class Machine:
    """The library and its numbers, over the scene of the commands."""

    def __init__(self, folder: Path, scene: Scene) -> None:
        self._scene = scene
        self._numbers, self._library = folder / "numbers", folder / "lacking.so"
        gcc = ["gcc", "-O1", "-shared", "-fPIC", "-o", self._library, _LIBRARY, "-ldl"]
        subprocess.run(gcc, check=True)
        self._writes: dict[str, int] = {}

    def set(self, numbers: Numbers) -> None:
        """Let the processes have other numbers from now on."""
        with self._numbers.open("r+b" if self._numbers.exists() else "wb") as file:
            file.write(struct.pack("4q", *numbers))

    def writes(self, name: str) -> int:
        """Return how often a command writes."""
        if name not in self._writes:
            self.set(Numbers(error=errno.ENOSPC, before=_ENOUGH))
            self.ended(self._scene.words(name), Lack("nothing"))
            left_over = struct.unpack("4q", self._numbers.read_bytes())[2]
            self._writes[name] = _ENOUGH - left_over
        return self._writes[name]

    def ended(self, words: Sequence[str], lack: Lack) -> tuple[int | None, str]:
        """Run a command with what the machine lacks; return its exit code and what it printed."""

        program = [sys.executable, "-c", _PROGRAM, *words, "--state", str(self._scene.state)]
        variables = {
            "LD_PRELOAD": str(self._library),
            "LACKING": str(self._numbers),
            "LACKING_PLACE": f"{self._scene.state}/",
        }
        with tempfile.TemporaryFile("w+") as output:
            with subprocess.Popen(
                [*lack.before, *program],
                cwd=ROOT,
                env={**os.environ, **variables},
                stdout=output,
                stderr=output,
            ) as process:
                try:
                    code = process.wait(_LONGEST_SECONDS)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    code = None
            output.seek(0)
            return code, output.read()

    def lacking(self, name: str, lack: Lack, chance: random.Random) -> Iterator[str]:
        """Run a command on a machine that lacks something; yield what is wrong."""
        before = Contents.of(self._scene.state).lasting()
        words = self._scene.words(name)
        moment = chance.randint(0, self.writes(name)) if lack.error else 0
        self.set(Numbers(0 if lack.random else lack.jump, lack.error, moment, lack.delay))
        jump = threading.Timer(
            chance.uniform(0, self._scene.seconds.get(name, 1)), self.set, [Numbers(lack.jump)]
        )
        if lack.random and lack.jump:
            jump.start()
        code, printed = self.ended(words, lack)
        jump.cancel()
        self.set(Numbers())
        at = f" from write {moment}" if lack.error else ""
        wrong = [
            *_wrong(code, printed, lack),
            *(f"it left the process {process}" for process in left()),
            *problems(self._scene.state, before, before, []),
            *empty_reports(self._scene.state),
        ]
        self._scene.finish(words)
        wrong += doubled_rows(self._scene.state)
        shown = " / ".join(printed.split("\n")[-4:])
        print(f"{name}, {lack.name}{at}: {code}: {shown[-300:]}", flush=True)
        for problem in wrong:
            yield f"{name}, {lack.name}{at}: {problem}"


def _wrong(code: int | None, printed: str, lack: Lack) -> Iterator[str]:
    if code is None:
        yield f"it did not end in {_LONGEST_SECONDS} s: {printed[-500:]}"
    elif code not in lack.codes:
        yield f"its exit code is {code}: {printed[-1000:]}"
    if "Traceback" in printed:
        yield f"it printed a traceback: {printed[-3000:]}"


def main() -> int:
    """Run the commands and print what is wrong; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.system.faults.machine", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="LACK", help=f"{[each.name for each in LACKS]}")
    parser.add_argument("--commands", default=",".join(_COMMANDS))
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--seed", type=int, default=43)
    arguments = parser.parse_args()
    os.environ["TIDEMARK_BESIDE_OTHERS"] = "1"  # no figure counts
    if shutil.which("gcc") is None:
        sys.exit("gcc is needed; `sudo apt-get install gcc` installs it")
    chance, found, tries = random.Random(arguments.seed), [], 0
    with tempfile.TemporaryDirectory(prefix="tidemark-machine-") as folder:
        machine = Machine(Path(folder), Scene(Path(folder)))
        for lack in LACKS:
            if arguments.names and lack.name not in arguments.names:
                continue
            for name in arguments.commands.split(","):
                for _ in range(arguments.tries if lack.random else 1):
                    tries += 1
                    for problem in machine.lacking(name, lack, chance):
                        found.append(problem)
                        print(f"PROBLEM {problem}", flush=True)
    print(f"{tries} commands on a machine that lacks something, {len(found)} problems.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
