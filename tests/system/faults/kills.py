"""``python -m tests.system.faults.kills``: commands that get a signal at random moments.

Commands run over one state folder. A signal ends each at a random moment, or stops it for a while.
Then no process of it may be left, nothing stored may be lost or doubled, no file of a report may be
empty, and the command must work when it is given again. ``--kills`` sets their number, ``--seed``
chooses moments and signals. The exit code is 1 if there is a problem.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
from click.testing import CliRunner

from tests.system.faults.power.judging import Contents, problems
from tidemark.cli import tidemark
from tidemark.model.checkout import ROOT

_TIDEMARK = Path(sys.executable).with_name("tidemark")
_SMALL = ("--set", "records=2000")
_OVER_FILES = ("import", "report", "profile import", "acknowledge", "exclude")
_IN_A_CLOUD = ("run", "bisect", "up")
_COMMANDS = (*_OVER_FILES, *_IN_A_CLOUD)
_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGSTOP)
_INTERRUPTED = 130
_STOPPED = "The run did not complete: stopped: interrupted on the command line"
_LONGEST_END_SECONDS = 120
_PR_SET_CHILD_SUBREAPER = 36
# A companion of a program kills its group within a moment of the command's end.
_PATIENCE_SECONDS = 10
_STOPPED_SECONDS = 1.0
_KEYS = {
    "runs": "run_id",
    "rates": "run_id, trial, test, metric, statistic, labels",
    "task_rates": "run_id, trial, test, metric, labels, log_stream, logged_at, line",
    "verdicts": "run_id, test, metric, statistic, labels, version, baseline",
    "profiles": "run_id, path",
}
_DAYS, _CHANGE = 24, 16


class Scene:
    """A state folder, and the words of each command over it."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self._folder = folder
        self._number = 0
        begun = time.monotonic()
        both = ["--versions", "9.0.0,9.8.4", "--repetitions", "2", *_SMALL]
        self._run = first_run(self.finish(["run", *both]))
        # A search lasts longer than a run, and only a signal ends `up`.
        self.seconds = dict.fromkeys(_IN_A_CLOUD, time.monotonic() - begun)
        self._changed = first_run(self.finish(words("import", 0, folder, "", "")))
        for name in _OVER_FILES:
            begun = time.monotonic()
            self.finish(self.words(name))
            self.seconds[name] = time.monotonic() - begun

    def words(self, name: str) -> list[str]:
        """Return a command that stores something new, where it can."""
        self._number += 1
        return words(name, self._number, self._folder, self._run, self._changed)

    def command(self, words: Sequence[str]) -> list[str]:
        """Return the whole command."""
        return [str(_TIDEMARK), *words, "--state", str(self.state)]

    def finish(self, words: Sequence[str]) -> str:
        """Run a command to its end; return what it printed."""
        done = subprocess.run(
            self.command(words), cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode in {0, 4}, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout


def first_run(printed: str) -> str:
    """Return the first run that a command has printed."""
    found = re.search(r"\d{8}T\d{6}Z-[0-9a-f]{6}", printed)
    assert found, printed
    return found[0]


def words(name: str, number: int, folder: Path, run: str, changed: str) -> list[str]:
    """Return a command, which stores something new for each number, where it can.

    ``folder`` gets its file, ``run`` is a run of RocksDB and ``changed`` an import with a change.
    """
    match name:
        case "import":
            file = folder / f"figures{number}.csv"
            file.write_text(_nightly(), encoding="utf-8")
            return ["import", str(file)]
        case "profile import":
            file = folder / f"{number}.folded"
            file.write_text(f"main;work {number + 50}\nmain;wait 50\n", encoding="utf-8")
            version = ["--suite", "rocksdb", "--version", f"8.0.{number}"]
            return ["profile", "import", str(file), *version, "--date", "2026-01-31"]
        case "report":
            return ["report", run]
        case "acknowledge":
            until = ["--until", f"2099-01-{number % 28 + 1:02}"]
            return ["acknowledge", changed, "--reason", f"number {number}", *until]
        case "exclude":
            verb = ("exclude", "include")[number % 2]
            return [verb, f"{run}/1", "--reason", f"number {number}"]
        case "run":
            return ["run", "--versions", "9.0.0", "--repetitions", "1", *_SMALL]
        case "sql":
            return ["sql", f"SELECT count(*) + {number} AS n FROM rates"]
        case "bisect":
            # No version is between both: a search of one comparison.
            versions = ["9.7.3", "9.8.4", "--metric", "ingest_engine_rate"]
            return ["bisect", *versions, "--repetitions", "5", *_SMALL]
        case _:
            return [name]


def main() -> int:
    """Kill the commands and print what is wrong; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.system.faults.kills", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="COMMAND", help=f"of {', '.join(_COMMANDS)}")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=15)
    arguments = parser.parse_args()
    os.environ["TIDEMARK_BESIDE_OTHERS"] = "1"  # no figure counts
    chance, found = random.Random(arguments.seed), []
    # Processes whose parents have ended become children of this one, whatever their group.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="tidemark-kills-") as folder:
        scene = Scene(Path(folder))
        names = arguments.names or _COMMANDS
        for number in range(arguments.kills):
            name = names[number % len(names)]
            how = chance.choice(_SIGNALS)
            moment = chance.uniform(0, scene.seconds[name])
            for problem in _killed(scene, name, how, moment):
                found.append(f"{name}, {how.name} after {moment:.2f} s: {problem}")
                print(found[-1], flush=True)
    print(f"{arguments.kills} commands ended by signals, {len(found)} problems.")
    return int(bool(found))


def _killed(scene: Scene, name: str, how: signal.Signals, moment: float) -> Iterator[str]:
    """End a command by a signal, and yield what is wrong afterwards."""
    before = Contents.of(scene.state).lasting()
    words = scene.words(name)
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen(
            scene.command(words), cwd=ROOT, stdout=output, stderr=output, start_new_session=True
        ) as process:
            time.sleep(moment)
            process.send_signal(how)
            if how == signal.SIGSTOP:
                time.sleep(_STOPPED_SECONDS)
                process.send_signal(signal.SIGCONT)
                if name == "up":
                    how = signal.SIGTERM
                    process.send_signal(how)
            try:
                code = process.wait(_LONGEST_END_SECONDS)
            except subprocess.TimeoutExpired:
                yield "it does not end"
                process.kill()
                code = process.wait()
        output.seek(0)
        printed = output.read()
    if "Traceback" in printed:
        yield f"it printed a traceback: {printed[-1000:]}"
    # The exit code 1 of a search is that of a run that was stopped.
    if code not in {0, 4, _INTERRUPTED, -how} and not (code == 1 and _STOPPED in printed):
        yield f"its exit code is {code}: {printed[-500:]}"
    yield from (f"it left the process {left}" for left in left())
    yield from problems(scene.state, before, before, [])
    yield from empty_reports(scene.state)
    if name in _OVER_FILES:
        scene.finish(words)
    yield from doubled_rows(scene.state)


def left() -> list[str]:
    """Return the commands of processes that are still there; end them."""
    _, alive = psutil.wait_procs(psutil.Process().children(recursive=True), _PATIENCE_SECONDS)
    commands = []
    for process in alive:
        commands.append(" ".join(process.cmdline()) or process.name())
        process.kill()
    psutil.wait_procs(alive)
    return commands


def empty_reports(state: Path) -> Iterator[str]:
    """Yield each empty file of a report."""
    for file in (state / "reports").rglob("*"):
        unfinished = file.suffix == ".tmp" or file.parent.name.startswith(".unfinished-")
        if file.is_file() and not unfinished and file.stat().st_size == 0:
            yield f"{file} is empty"


def doubled_rows(state: Path) -> Iterator[str]:
    """Yield each table with a row that is there twice."""
    doubled = " UNION ALL ".join(
        f"SELECT '{table}' AS name, count(*) AS n FROM "
        f"(SELECT 1 FROM {table} GROUP BY {keys} HAVING count(*) > 1)"
        for table, keys in _KEYS.items()
    )
    words = ["sql", doubled, "--format", "json", "--state", str(state)]
    done = CliRunner().invoke(tidemark, words)
    if done.exit_code:
        yield f"the tables cannot be read: {done.output}"
        return
    for row in json.loads(done.stdout):
        if int(row["n"]):
            yield f"{row['name']} has {row['n']} rows more than once"


def _nightly() -> str:
    """Return figures of some days as CSV, which are lower on the last days."""
    chance = random.Random(1)
    lines = ["date,commit,Ingest rate (rows/s)"]
    for day in range(_DAYS):
        rate = chance.gauss(1000, 10) * (0.8 if day >= _CHANGE else 1)
        lines.append(f"2026-01-{day + 1:02},c{day:07x},{rate:.1f}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
