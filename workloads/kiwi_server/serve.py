"""Serve Kiwi TCMS with a new copy of its data set at port 8080: ``python serve.py server``."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import tcms
from data_set import restore, variables_of
from harness.machine import log_version

PORT = 8080
# SQLite has one writer at a time, and each call of the sequence writes.
WORKERS = 1
# A request of the load does the work of a whole sequence.
TIMEOUT_SECONDS = 1_200
# The method, path, status and time in microseconds of each request.
ACCESS = "Access: %(m)s %(U)s %(s)s %(D)s"


def main() -> None:
    """Restore the data set, log the environment, and become the server."""
    variables = dict(os.environ)
    folder = Path(tempfile.mkdtemp(prefix="kiwi-"))
    data_set = restore(variables, folder)
    log_version(
        tcms.__version__,
        variables["TIDEMARK_VERSION"],
        variables["TIDEMARK_PACKAGE"],
        data_set_sqlite=data_set,
    )
    os.chdir(folder)
    command = [
        *(sys.executable, "-m", "gunicorn", "application:application", "--workers", str(WORKERS)),
        *("--pythonpath", str(Path(__file__).parent), "--timeout", str(TIMEOUT_SECONDS)),
        *("--bind", f"{variables['TIDEMARK_ADDRESS']}:{PORT}"),
        *("--access-logfile", "-", "--access-logformat", ACCESS),
    ]
    os.execve(sys.executable, command, variables_of(variables))  # noqa: S606


if __name__ == "__main__":
    main()
