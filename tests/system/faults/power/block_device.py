"""``python -m tests.system.faults.power.block_device``: a real file system that loses its power.

An ext4 in a file holds the state folder. While a command runs or after it, the file system is shut
down without writing what was not synced, as by a power failure, and mounted again. Everything
a command has reported must be there, and every command must work. Only root may mount. ``--cuts``
sets the number of power failures. The exit code is 1 if one of them has a problem.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from onebox.cloud.deployment import synthesise
from tests.system.faults.power.judging import Contents, problems
from tidemark.model.checkout import ROOT
from tidemark.model.run_id import RUN_ID
from tidemark.one_machine.app import machine_app
from tidemark.store import keys

_TIDEMARK = Path(sys.executable).with_name("tidemark")
_RUN = ["run", "--versions", "9.0.0", "--repetitions", "2", "--set", "records=2000"]
_COMMANDS = (_RUN, _RUN, ["runs"])
_BYTES = 1 << 30
_LONGEST_RUN_SECONDS = 40
_LONGEST_PAUSE_SECONDS = 5
# ext4's EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (Linux, fs/ext4/ext4.h).
_SHUTDOWN, _NO_FLUSH = 0x8004587D, 2


class Device:
    """An ext4 in a file, mounted on a folder."""

    def __init__(self, folder: Path) -> None:
        self._file, self.place = folder / "ext4", folder / "mounted"
        self.place.mkdir()
        with self._file.open("wb") as file:
            file.truncate(_BYTES)
        subprocess.run(["mkfs.ext4", "-q", self._file], check=True)

    @contextmanager
    def mounted(self) -> Iterator[Path]:
        """Yield the folder of the state while the device is mounted."""
        subprocess.run(["mount", "-o", "loop", self._file, self.place], check=True)
        try:
            yield self.place / "state"
        finally:
            self._unmount()

    def fail(self) -> None:
        """Shut the file system down; what was not synced is lost."""
        descriptor = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, struct.pack("I", _NO_FLUSH))
        finally:
            os.close(descriptor)

    def _unmount(self) -> None:
        # Killed processes hold their files a little longer.
        while subprocess.run(["umount", self.place], capture_output=True, check=False).returncode:
            time.sleep(0.1)


def main() -> int:
    """Cut the power and print what is wrong; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.system.faults.power.block_device")
    parser.add_argument("--cuts", type=int, default=12)
    parser.add_argument("--seed", type=int, default=15)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("No power failure of a block device: only root may mount one.")
        return 0
    chance, found = Random(arguments.seed), []
    with tempfile.TemporaryDirectory(prefix="tidemark-device-") as folder:
        device = Device(Path(folder))
        with device.mounted() as state:
            _measure_once(state)
        for number in range(arguments.cuts):
            words = _COMMANDS[number % len(_COMMANDS)]
            found += [f"{words[0]}, cut {number}: {text}" for text in _cut(device, words, chance)]
    for problem in found:
        print(problem)
    print(f"{arguments.cuts} power failures of a block device, {len(found)} problems.")
    return int(bool(found))


def _measure_once(state: Path) -> None:
    state.mkdir(mode=0o700)
    with tempfile.TemporaryDirectory() as folder:
        synthesise(Path(folder), machine_app())
        shutil.copytree(Path(folder) / "assemblies", state / "assemblies")
    command = [_TIDEMARK, *_RUN, "--state", state]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    os.sync()


def _cut(device: Device, words: list[str], chance: Random) -> Iterator[str]:
    """Yield the problems after a power failure at some moment of a command, or after it."""
    with device.mounted() as state:
        before = Contents.of(state).lasting()
        output = _output_until_failure(device, [*words, "--state", str(state)], chance)
    with device.mounted() as state:
        yield from problems(state, before, before, [])
        stored = Contents.of(state).objects
    yield from (f"{key} was reported and is lost" for key in _reported(output) if key not in stored)


def _output_until_failure(device: Device, words: list[str], chance: Random) -> str:
    """Return what a command has printed when the power fails, by chance after its end."""
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen(
            [_TIDEMARK, *words], cwd=ROOT, stdout=output, stderr=output, start_new_session=True
        ) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0, _LONGEST_RUN_SECONDS))
                time.sleep(chance.uniform(0, _LONGEST_PAUSE_SECONDS))
            output.seek(0)
            printed = output.read()
            device.fail()
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
        return printed


def _reported(output: str) -> Iterator[str]:
    """Yield the keys of the trials that a run has reported."""
    if run := re.search(rf"^Run ({RUN_ID})$", output, re.MULTILINE):
        for number in re.findall(r"^trial (\d+) of ", output, re.MULTILINE):
            yield keys.trial(run[1], int(number))


if __name__ == "__main__":
    sys.exit(main())
