"""The databases of Kiwi TCMS: each a program over the files of one folder, or files alone."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Protocol

_PAUSE_SECONDS = 0.1

Program = subprocess.Popen[bytes]


class DatabaseError(Exception):
    """A database cannot run here, or has not started."""


class Database(Protocol):
    """A database, as the module of its name has it."""

    TITLE: str
    """Its name, for people."""

    def version(self) -> str:
        """Return the version of its programs."""

    def variables(self, host: str) -> dict[str, str]:
        """Return the variables of Kiwi TCMS that lead to it at an address."""

    def create(self, folder: Path) -> None:
        """Make an empty database in an empty folder, with a user for Kiwi TCMS alone."""

    def command(self, folder: Path, host: str) -> list[str]:
        """Return the program that serves the folder at an address, and its arguments, if any."""

    def answers(self, host: str) -> bool:
        """Tell whether the program at an address accepts connections."""


def database_of(name: str) -> Database:
    """Return the database of a name: ``sqlite``, ``postgresql`` or ``mariadb``."""
    return import_module(name)


def login(engine: str, host: str, port: int) -> dict[str, str]:
    """Return the variables of Kiwi TCMS for a database with a program.

    Its user owns the tables of Kiwi TCMS and nothing else. Others on this machine reach it, too.
    """
    return {
        "KIWI_DB_ENGINE": f"django.db.backends.{engine}",
        "KIWI_DB_HOST": host,
        "KIWI_DB_PORT": str(port),
        "KIWI_DB_NAME": "kiwi",
        "KIWI_DB_USER": "kiwi",
        "KIWI_DB_PASSWORD": "kiwi",
    }


@contextmanager
def running(database: Database, folder: Path, host: str) -> Iterator[Program | None]:
    """Run the program of a database, if it has one, while the context is open; yield it.

    Raises
    ------
    DatabaseError
        If the program ends before it accepts connections.
    """
    command = database.command(folder, host)
    if not command:
        yield None
        return
    with subprocess.Popen(command, cwd=folder) as program:
        try:
            while not database.answers(host):
                if program.poll() is not None:
                    raise ended(database, program)
                time.sleep(_PAUSE_SECONDS)
            yield program
        finally:
            program.terminate()


def ended(database: Database, program: Program) -> DatabaseError:
    """Return the error of a program that has ended by itself."""
    return DatabaseError(f"{database.TITLE} ended with exit code {program.returncode}.")
