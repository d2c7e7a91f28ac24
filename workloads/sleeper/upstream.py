"""The programs of Sleeper, which are the classes with a ``main`` in the jars of its version."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from zipfile import ZipFile

from harness.checks import CheckFailedError
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


def run(relay: Relay, program: str, *arguments: str) -> str:
    """Run a program to its end; return its output, which is also that of this process.

    Raises
    ------
    CheckFailedError
        If it ends with an exit code other than 0.
    """
    scratch = os.environ["TMPDIR"]
    java = [
        "java",
        *(["-XX:TieredStopAtLevel=1"] if program in _NOT_MEASURED else []),
        # Arrow keeps its buffers outside of the heap.
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        f"-Djava.io.tmpdir={scratch}",
        # Hadoop's client of S3 keeps what it uploads in a folder of its own.
        f"-Dhadoop.tmp.dir={scratch}",
        *("-cp", f"{os.environ['TIDEMARK_PREPARED']}/*", program, *arguments),
    ]
    variables = {**os.environ, "AWS_ENDPOINT_URL": relay.url}
    lines = []
    with subprocess.Popen(
        java, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout, "its output is a pipe"
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                lines.append(line)
        except BaseException:  # the task is stopped, or out of time
            process.kill()
            raise
    if process.returncode:
        name = program.rpartition(".")[2]
        raise CheckFailedError(f"{name} ended with exit code {process.returncode}.")
    return "".join(lines)
