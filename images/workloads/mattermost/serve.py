"""The program beside the containers of Mattermost and its database: ``python serve.py server``.

It logs the version that the server reports, the time that its statements take in the database, and
the goroutines, the heap and the stacks of its process. All containers of the task end with this
program, and it ends with them.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg2
import pymysql
from harness import log
from harness.machine import log_version
from harness.task import CheckFailedError
from load_test import PORT
from tool import Measurements
from web import ask

_HOST = "127.0.0.1"
_RUNTIME_PORT = 8067
_INTERVAL_SECONDS = 10
_PAUSE_SECONDS = 1.0
_PERCENT = 100
_MIB = 2**20
# Go, net/http/pprof: its index has the number of goroutines, and the page of the heap the memory.
_GOROUTINES = re.compile(r"<td>(\d+)</td><td><a href='goroutine\?debug=1'>")
_HEAP, _STACK = (re.compile(rf"^# {name} = (\d+)", re.M) for name in ("HeapInuse", "Stack"))


class Postgres:
    """The statements of PostgreSQL: their number and time, and the times of a sample in its log."""

    errors: type[Exception] = psycopg2.Error
    _SUM = (
        "SELECT coalesce(sum(calls), 0), coalesce(sum(total_exec_time), 0) FROM pg_stat_statements"
    )
    _LOG = "SELECT pg_current_logfile('csvlog'), (pg_stat_file(pg_current_logfile('csvlog'))).size"
    _NEW = "SELECT pg_read_binary_file(%s, %s, %s)"
    # The line of a statement that was prepared before has its time behind the word execute.
    _TIME = re.compile(r'"duration: (\d+\.\d+) ms  (?:execute|statement)')

    def __init__(self) -> None:
        where = f"host={_HOST} user=mmuser dbname=mattermost connect_timeout={_INTERVAL_SECONDS}"
        connection = psycopg2.connect(where)
        connection.autocommit = True
        self._cursor = connection.cursor()
        self._cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        self._last = self._sum()
        self._name, self._read = self._log()

    def statements(self) -> Statements:
        """Return the statements since the last answer."""
        now = self._sum()
        calls, milliseconds = (new - old for new, old in zip(now, self._last, strict=True))
        self._last = now
        times = [*self._times()]
        p99 = statistics.quantiles(times, n=_PERCENT, method="inclusive")[-1] if times[1:] else 0.0
        return Statements(calls, milliseconds / calls if calls else 0.0, p99)

    def _sum(self) -> tuple[float, float]:
        self._cursor.execute(self._SUM)
        calls, milliseconds = self._cursor.fetchone()
        return float(calls), float(milliseconds)

    def _log(self) -> tuple[str, int]:
        self._cursor.execute(self._LOG)
        name, size = self._cursor.fetchone()
        return str(name), int(size)

    def _times(self) -> Iterator[float]:
        """Yield the times that the log has had since the last answer [ms]."""
        name, size = self._log()
        # A new log begins with its first byte.
        start = self._read if name == self._name else 0
        self._cursor.execute(self._NEW, (name, start, size - start))
        self._name, self._read = name, size
        for match in self._TIME.finditer(
            bytes(self._cursor.fetchone()[0]).decode(errors="replace")
        ):
            yield float(match[1])


class MySql:
    """The statements of MySQL, and the histogram of their times: both are its own."""

    errors: type[Exception] = pymysql.MySQLError
    # Times are in picoseconds.
    _SUM = (
        "SELECT coalesce(sum(COUNT_STAR), 0), coalesce(sum(SUM_TIMER_WAIT), 0) / 1e12 "
        "FROM performance_schema.events_statements_summary_global_by_event_name"
    )
    _BELOW = (
        "SELECT BUCKET_TIMER_HIGH / 1e12, COUNT_BUCKET_AND_LOWER "
        "FROM performance_schema.events_statements_histogram_global"
    )

    def __init__(self) -> None:
        connection = pymysql.connect(host=_HOST, user="root", connect_timeout=_INTERVAL_SECONDS)
        self._cursor = connection.cursor()
        self._last = self._measured()

    def statements(self) -> Statements:
        """Return the statements since the last answer."""
        now = self._measured()
        found = now.since(self._last)
        self._last = now
        return Statements(found.requests, found.mean_ms, found.p99_ms)

    def _measured(self) -> Measurements:
        self._cursor.execute(self._SUM)
        calls, seconds = map(float, self._cursor.fetchone())
        self._cursor.execute(self._BELOW)
        below = {float(end): float(count) for end, count in self._cursor.fetchall()}
        return Measurements(calls, seconds, 0.0, below)


DATABASES = {"postgres": Postgres, "mysql": MySql}
"""The databases by the value of the axis ``database``."""


class Statements(NamedTuple):
    """The statements of some time in the database."""

    calls: float
    mean_ms: float
    p99_ms: float

    @property
    def words(self) -> str:
        """The statements for the log."""
        return f"Statements {self.calls:.0f} average {self.mean_ms:.6f} ms p99 {self.p99_ms:.6f} ms"


def main(variables: Mapping[str, str]) -> int:
    """Log until this process is stopped; return 1 once the database or the server is silent."""
    _log_version(variables)
    try:
        with _answering(DATABASES[variables["TIDEMARK_DATABASE"]]) as database:
            while True:
                time.sleep(_INTERVAL_SECONDS)
                log.info("Database", database.statements().words)
                log.info("Server", runtime(*map(_page, ("", "heap?debug=1"))))
    except CheckFailedError as failure:
        log.error("Check", str(failure))
    return 1


@contextmanager
def _answering(database: Any) -> Iterator[Any]:  # noqa: ANN401 (either class)
    try:
        yield database()
    except database.errors as error:
        raise CheckFailedError(f"The database does not answer: {str(error).strip()}.") from None


def _page(path: str) -> str:
    return ask(_HOST, _RUNTIME_PORT, f"/debug/pprof/{path}").decode(errors="replace")


def runtime(index: str, heap: str) -> str:
    """Return the line of a process of Go, from its pages.

    Raises
    ------
    CheckFailedError
        If a page lacks a figure.
    """
    pages = ((_GOROUTINES, index), (_HEAP, heap), (_STACK, heap))
    found = [pattern.search(page) for pattern, page in pages]
    if not all(found):
        raise CheckFailedError("/debug/pprof/ has no goroutines, HeapInuse or Stack.")
    goroutines, in_use, stack = (int(each[1]) for each in found if each)
    return (
        f"Runtime goroutines {goroutines} heap {in_use / _MIB:.3f} MiB stack {stack / _MIB:.3f} MiB"
    )


def reported(version: str, answered: str) -> str:
    """Return the version that a server reports: a candidate reports its release's version."""
    return version if version.partition("-")[0] == answered else answered


def _log_version(variables: Mapping[str, str]) -> None:
    """Wait until the server answers, and log its version; the harness limits the wait."""
    while (answered := _answered()) is None:
        time.sleep(_PAUSE_SECONDS)
    version = variables["TIDEMARK_VERSION"]
    log_version(reported(version, answered), version, variables["TIDEMARK_PACKAGE"])


def _answered() -> str | None:
    try:
        answer = ask(_HOST, PORT, "/api/v4/config/client?format=old")
    except CheckFailedError:
        return None
    return str(json.loads(answer)["Version"])


if __name__ == "__main__":
    sys.exit(main(os.environ))
