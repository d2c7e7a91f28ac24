"""A round: the versions of a run take turns in one task, slice by slice.

Each version has a process of its own, which stays for the whole round. A slice is one job of the
test. In each block every version has one slice, in random order, so that all of them meet the same
machine. The first block warms the versions up and does not count. It tells how long the versions
take, and so how many times each of them does its work in every other slice.

``TIDEMARK_ROUND`` has the versions as JSON, with the number of the repetition and of the measured
slices: ``{"repetition": 1, "slices": 8, "versions": [{"name": "9.8.4", "version": "9.8.4",
"package": "rocksdict==0.3.29"}]}``. A version may have a ``loss``: the share of its rates by which
it is slowed. The preparation adds the variables of each version's process.
"""

from __future__ import annotations

import json
import math
import os
import random
import select
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from harness import log
from harness.clocks import wait_until_idle

ROUND = "TIDEMARK_ROUND"
_REPLIES = "TIDEMARK_REPLIES"
_REPLY = struct.Struct("d")
_DEFAULT_SECONDS = 3600.0
# A neighbour on the machine slows a slice or not. The median of many short slices does not see it,
# the median of a few long slices does.
_LEAST_SECONDS, _MOST_SECONDS = 0.04, 0.08
_CLOCK_SECONDS = 1e-3
# The versions together leave time for the end of the task.
_SHARED = 0.9


class Failed(Exception):
    """A version without further slices; the message says why, '' if its process has logged it."""


class Player:
    """The process of one version, which does a job whenever it has its turn.

    It may use ``seconds`` in all: a version that hangs costs no other version its slices.
    ``engine_seconds`` is the time of one unit of its last job, ``whole_seconds`` of the whole job.
    """

    def __init__(
        self, name: str, command: Sequence[str], variables: Mapping[str, str], seconds: float
    ) -> None:
        self.name, self._left = name, seconds
        self.engine_seconds = self.whole_seconds = 0.0
        parent, child = os.pipe()
        self._replies = os.fdopen(parent, "rb", buffering=0)
        try:
            self._process = subprocess.Popen(
                command,
                env={**variables, "TIDEMARK_THREAD": name, _REPLIES: str(child)},
                stdin=subprocess.PIPE,
                pass_fds=[child],
                text=True,
            )
        finally:
            os.close(child)

    def job(self, number: int, units: int) -> None:
        """Give the version its turn, and wait until its job is done and its process is idle."""
        self._tell(f"{number} {units}")
        began = time.monotonic()
        self.engine_seconds = self.wait()
        self.whole_seconds = time.monotonic() - began

    def wait(self) -> float:
        """Wait for a reply of the process; return its figure.

        Raises
        ------
        Failed
            If the process ends, or if the version has used up its time.
        """
        began = time.monotonic()
        ready, _, _ = select.select([self._replies], [], [], max(0.0, self._left))
        self._left -= time.monotonic() - began
        if not ready:
            raise Failed("its share of the time limit is over")
        # A reply of a few bytes is in the pipe wholly or not at all.
        if len(reply := self._replies.read(_REPLY.size)) < _REPLY.size:
            raise Failed(_reason(self._end()))
        seconds: float = _REPLY.unpack(reply)[0]
        return seconds

    def finish(self) -> None:
        """Wait for the end of the process; raise Failed if it does not end well."""
        # At the end of its commands a process only removes its files.
        if self._process.stdin:
            self._process.stdin.close()
        if (code := self._end()) != 0:
            raise Failed(_reason(code))

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._replies.close()
        with suppress(BrokenPipeError):  # it may have ended before it read a command
            self._process.communicate()

    def _tell(self, command: str) -> None:
        try:
            print(command, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise Failed(_reason(self._end())) from None

    def _end(self) -> int | None:
        """Return the return code of the process, None if it does not end."""
        try:
            return self._process.wait(max(1.0, self._left))
        except subprocess.TimeoutExpired:
            return None


def _reason(code: int | None) -> str:
    """Return why a process has failed, '' if it has logged the reason itself."""
    if code is None:
        return "its process does not end"
    return f"its process was ended by {signal.Signals(-code).name}" if code < 0 else ""


def run(module: str, test: str, scratch: Path, variables: Mapping[str, str]) -> int:
    """Let the versions of a round take turns; return 0 if at least one has done all its slices.

    A version that fails drops alone, with the reason in the log.
    """
    given = json.loads(variables[ROUND])
    seconds = float(variables.get("TIDEMARK_DEADLINE_SECONDS") or _DEFAULT_SECONDS)
    share = seconds * _SHARED / len(given["versions"])
    players = []
    try:
        for place, version in enumerate(given["versions"]):
            folder = scratch / f"version-{place}"
            folder.mkdir()
            command = ["python", "-m", "harness.measurement", module, test, str(folder)]
            own = {
                **variables,
                **version["variables"],
                # Files, temporary files and stored data of the versions are apart.
                "TMPDIR": str(folder),
                "TIDEMARK_DATA": f"{variables['TIDEMARK_DATA']}/version-{place}",
                "TIDEMARK_LOSS": str(version.get("loss", 0)),
            }
            players.append(Player(version["name"], command, own, share))
        order = f"{variables['TIDEMARK_SEED']}/{given['repetition']}/{test}"
        shuffle = random.Random(order)  # noqa: S311 (an order, not a secret)
        whole = take_turns(players, given["slices"], shuffle)
    finally:
        for player in players:
            player.kill()
    return 0 if whole else 1


def take_turns(players: Iterable[Player], slices: int, shuffle: random.Random) -> list[str]:
    """Give each player its measured slices, after one that does not count; return who had all.

    The first slice is one unit of the work. It tells how many units the others have.
    """
    playing = list(players)
    playing = [player for player in playing if _goes_well(player, player.wait)]
    units = 1
    for block in range(slices + 1):
        for player in shuffle.sample(playing, len(playing)):
            if not _goes_well(player, player.job, block, units):
                playing.remove(player)
        if not block:
            units = units_of_slice([(each.engine_seconds, each.whole_seconds) for each in playing])
    return [player.name for player in playing if _goes_well(player, player.finish)]


def units_of_slice(seconds: Sequence[tuple[float, float]]) -> int:
    """Return the units of work of a slice in which every engine works for 0.04 s.

    A slice of several units takes 0.08 s at most. ``seconds`` has, for each version,
    the time of the engine and of the whole unit with its checks [s].
    """
    if not seconds:
        return 1
    engines, wholes = zip(*seconds, strict=True)
    wanted = math.ceil(_LEAST_SECONDS / max(min(engines), _CLOCK_SECONDS))
    return max(1, min(wanted, math.floor(_MOST_SECONDS / max(wholes))))


def _goes_well(player: Player, act: Callable[..., object], *arguments: int) -> bool:
    """Tell whether a player goes on after an act; log why it does not."""
    try:
        act(*arguments)
    except Failed as failed:
        player.kill()
        if str(failed):
            log.error("Task", f"The version dropped out of the round: {failed}.", player.name)
        return False
    return True


def do_asked(
    do: Callable[[int, int], float], variables: Mapping[str, str], commands: IO[str]
) -> None:
    """Do the jobs that the round asks this process for; job 0 does not count.

    ``do`` does a job of a number of units, and returns the seconds of its engine for one unit. The
    process is idle before it replies, so that no version works in the turn of another.
    """
    replies = int(variables[_REPLIES])
    os.write(replies, _REPLY.pack(0.0))
    for line in commands:
        seconds = do(*map(int, line.split()))
        wait_until_idle()
        os.write(replies, _REPLY.pack(seconds))
