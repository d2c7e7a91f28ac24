"""Serve Kiwi TCMS with a new copy of its data set at port 8080: ``python serve.py server``.

The database of the trial runs beside it. The end of either is the end of both.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import tcms
from database import (
    Database,
    DatabaseError,
    Program,
    database_of,
    ended,
    restore,
    running,
    variables_of,
)
from harness import log
from harness.machine import keep_apart, log_version
from harness.service import ANYWHERE

PORT = 8080
# SQLite has one writer at a time, and each call of the sequence writes.
WORKERS = 1
# A request of the load does the work of a whole sequence.
TIMEOUT_SECONDS = 1_200
# The method, path, status and time in microseconds of each request, and its statements.
ACCESS = "Access: %(m)s %(U)s %(s)s %(D)s %({server-timing}o)s"


def main(variables: Mapping[str, str]) -> int:
    """Restore the data set, log the environment, and serve; return an exit code."""
    name, address = variables["TIDEMARK_DATABASE"], variables["TIDEMARK_ADDRESS"]
    host = "127.0.0.1" if address == ANYWHERE else address
    folder = Path(tempfile.mkdtemp(prefix="kiwi-"))
    try:
        data_set, database = restore(variables, host, folder), database_of(name)
        log_version(
            tcms.__version__,
            variables["TIDEMARK_VERSION"],
            variables["TIDEMARK_PACKAGE"],
            database=f"{database.TITLE} {database.version()}",
            **{f"data_set_{name}": data_set},
        )
        keep_apart(address, serves=True)
        return _serve(database, variables, folder, host)
    except DatabaseError as error:
        log.error("Database", str(error))
        return 1


def _serve(database: Database, variables: Mapping[str, str], folder: Path, host: str) -> int:
    """Run the database and the server until either ends; return the exit code of both."""
    environment = variables_of(variables, database, host)
    stops: list[int] = []
    with running(database, folder, host) as program:
        command = _command(variables["TIDEMARK_ADDRESS"])
        server = subprocess.Popen(command, cwd=folder, env=environment)

        def stop(number: int, _: object) -> None:
            # The signal may come again meanwhile, so that a lock, such as an Event's, would wait
            # for itself.
            stops.append(number)
            server.terminate()

        signal.signal(signal.SIGTERM, stop)
        _await_end([server, program] if program else [server])
        if program and program.poll() is not None and not stops:
            server.terminate()
            server.wait()
            raise ended(database, program)
        code = server.wait()
        return code if code >= 0 else 128 - code


def _await_end(programs: list[Program]) -> None:
    """Wait until one of the programs has ended."""
    select.select([os.pidfd_open(program.pid) for program in programs], [], [])


def _command(address: str) -> list[str]:
    return [
        *(sys.executable, "-m", "gunicorn", "application:application", "--workers", str(WORKERS)),
        *("--pythonpath", str(Path(__file__).parent), "--timeout", str(TIMEOUT_SECONDS)),
        *("--bind", f"{address}:{PORT}"),
        *("--access-logfile", "-", "--access-logformat", ACCESS),
    ]


def _exit(*_: object) -> NoReturn:
    # The signal may come twice: to this process, and to all processes of the task.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    # A stop while the data set is made leaves nothing of it.
    signal.signal(signal.SIGTERM, _exit)
    sys.exit(main(dict(os.environ)))
