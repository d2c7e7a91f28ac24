"""The programs of Sleeper, which are the classes with a ``main`` in the jars of its version."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import ZipFile

from harness.task import CheckFailedError
from relay import Relay

TABLE = "system-test"
DEPLOY = "sleeper.clients.deploy.localstack.DeployDockerInstance"
INGEST = "sleeper.systemtest.datageneration.IngestRandomDataToDocker"
CREATE_JOBS = "sleeper.clients.compaction.CreateCompactionJobsClient"
DISPATCH_JOBS = "sleeper.clients.compaction.DispatchCompactionJobsClient"
COMPACT = "sleeper.compaction.job.execution.ECSCompactionTaskRunner"
# Most of their time goes into their start, which is shorter without the optimising compiler.
_NOT_MEASURED = {DEPLOY, CREATE_JOBS, DISPATCH_JOBS}
_BEFORE_EVERY_NAME = "sleeper-"
_VERSION_CLASS = "sleeper/core/SleeperVersion.class"


class Sleeper:
    """The jars of one version, in the form of the harness's engines."""

    title = "Sleeper"

    def version(self, _: Path) -> str:
        """Return the version that the jars report.

        Raises
        ------
        CheckFailedError
            If no jar does.
        """
        for path in sorted(Path(os.environ["TIDEMARK_PREPARED"]).glob("*.jar")):
            with ZipFile(path) as jar:
                # Jars of other projects have a file of this name, too.
                if _VERSION_CLASS in jar.namelist():
                    return jar.read("version.txt").decode().strip()
        raise CheckFailedError(f"No jar has {_VERSION_CLASS}: these are not the jars of Sleeper.")


def instance_id() -> str:
    """Return the id of the trial's instance."""
    return os.environ["TIDEMARK_OWN"].removeprefix(_BEFORE_EVERY_NAME)


def has_rust() -> bool:
    """Tell whether the jars have the part in Rust, which the engine DataFusion needs."""
    paths = Path(os.environ["TIDEMARK_PREPARED"]).glob("*foreign-bridge*.jar")
    names = (name for path in paths for name in ZipFile(path).namelist())
    return any(name.startswith("natives/") and not name.endswith("/") for name in names)


def run(relay: Relay, program: str, *arguments: str) -> list[str]:
    """Run a program to its end; return its lines, which are also printed.

    Raises
    ------
    CheckFailedError
        If it ends with an exit code other than 0.
    """
    return _run(relay, program, [program, *arguments], lambda line: line)


def run_each(
    relay: Relay, program: str, runs: Sequence[Sequence[str]], ends: re.Pattern[str]
) -> list[str]:
    """Run a program several times in one process, which stays warm; return its lines.

    Each run has its arguments, and a line that matches ``ends`` at its end.
    """
    words = ";".join(",".join(arguments) for arguments in runs)
    launcher = str(Path(__file__).with_name("Repeat.java"))
    return _run(relay, program, [launcher, program, words], _Marks(ends, len(runs)))


def run_jobs(
    relay: Relay, program: str, *arguments: str, ends: re.Pattern[str], jobs: int
) -> list[str]:
    """Run a program that does several jobs; a line that matches ``ends`` is at the end of each."""
    return _run(relay, program, [program, *arguments], _Marks(ends, jobs))


class _Marks:
    """Marks the lines of the first and the last of a process's jobs, which no log query counts."""

    def __init__(self, ends: re.Pattern[str], jobs: int) -> None:
        self._ends, self._last, self._ended = ends, jobs - 1, 0

    def __call__(self, line: str) -> str:
        marked = f"not counted: {line}" if self._ended in {0, self._last} else line
        self._ended += bool(self._ends.search(line))
        return marked


def _run(
    relay: Relay, program: str, words: Sequence[str], shown: Callable[[str], str]
) -> list[str]:
    scratch = os.environ["TMPDIR"]
    java = [
        "java",
        *(["-XX:TieredStopAtLevel=1"] if program in _NOT_MEASURED else []),
        # Arrow keeps its buffers outside of the heap.
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        f"-Djava.io.tmpdir={scratch}",
        # Hadoop's client of S3 keeps what it uploads in a folder of its own.
        f"-Dhadoop.tmp.dir={scratch}",
        *("-cp", f"{os.environ['TIDEMARK_PREPARED']}/*", *words),
    ]
    variables = {**os.environ, "AWS_ENDPOINT_URL": relay.url}
    lines = []
    with subprocess.Popen(
        java, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout, "its output is a pipe"
        try:
            for line in process.stdout:
                print(shown(line), end="", flush=True)
                lines.append(line)
        except BaseException:  # the task is stopped, or out of time
            process.kill()
            raise
    if process.returncode:
        name = program.rpartition(".")[2]
        raise CheckFailedError(f"{name} ended with exit code {process.returncode}.")
    return lines
