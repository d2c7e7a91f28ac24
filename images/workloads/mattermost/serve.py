"""The program beside the containers of Mattermost and its database: ``python serve.py server``.

It logs the version that the server reports, and the time that its statements take in the database.
All containers of the task end with this program, and it ends with them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import psycopg2
from harness import log
from harness.machine import log_version
from harness.task import CheckFailedError
from load_test import PORT
from web import ask

_DATABASE = "host=127.0.0.1 user=mmuser dbname=mattermost connect_timeout=10"
_INTERVAL_SECONDS = 10
_PAUSE_SECONDS = 1.0
_SUM = "SELECT coalesce(sum(calls), 0), coalesce(sum(total_exec_time), 0) FROM pg_stat_statements"


class Statements(NamedTuple):
    """The statements that the database has done so far."""

    calls: float
    milliseconds: float
    """The time of all of them in the database [ms]."""

    def since(self, earlier: Statements) -> Statements:
        """Return the statements since an earlier time."""
        return Statements(self.calls - earlier.calls, self.milliseconds - earlier.milliseconds)

    @property
    def words(self) -> str:
        """The statements for the log."""
        mean = self.milliseconds / self.calls if self.calls else 0.0
        return f"Statements {self.calls:.0f} average {mean:.6f} ms"


def main(variables: Mapping[str, str]) -> int:
    """Log until this process is stopped; return 1 once the database does not answer."""
    _log_version(variables)
    try:
        with psycopg2.connect(_DATABASE) as connection:
            connection.autocommit = True
            _log_statements(connection)
    except psycopg2.Error as error:
        log.error("Database", f"The database does not answer: {str(error).strip()}.")
    return 1


def reported(version: str, answered: str) -> str:
    """Return the version that a server reports: a candidate reports that of its release."""
    return version if version.partition("-")[0] == answered else answered


def _log_version(variables: Mapping[str, str]) -> None:
    """Wait until the server answers, and log its version; the harness limits the wait."""
    while (answered := _answered()) is None:
        time.sleep(_PAUSE_SECONDS)
    version = variables["TIDEMARK_VERSION"]
    log_version(reported(version, answered), version, variables["TIDEMARK_PACKAGE"])


def _answered() -> str | None:
    try:
        answer = ask("127.0.0.1", PORT, "/api/v4/config/client?format=old")
    except CheckFailedError:
        return None
    return str(json.loads(answer)["Version"])


def _log_statements(connection: Any) -> None:  # noqa: ANN401 (psycopg2 has no types)
    with connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        last = _statements(cursor)
        while True:
            time.sleep(_INTERVAL_SECONDS)
            now = _statements(cursor)
            log.info("Database", now.since(last).words)
            last = now


def _statements(cursor: Any) -> Statements:  # noqa: ANN401 (psycopg2 has no types)
    cursor.execute(_SUM)
    return Statements(*map(float, cursor.fetchone()))


if __name__ == "__main__":
    sys.exit(main(os.environ))
