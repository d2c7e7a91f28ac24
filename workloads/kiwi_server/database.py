"""The databases of Kiwi TCMS, each a program over the files of one folder or files alone.

The data set of a version is made once for each database, kept in the cache, and copied.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Protocol

from harness.installation import kept
from harness.storage import digest

_PAUSE_SECONDS = 0.1
_HERE = Path(__file__).parent
_RECIPE = _HERE / "make_data_set.py"

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


def variables_of(variables: Mapping[str, str], database: Database, host: str) -> dict[str, str]:
    """Return the variables of a program that uses the data set in its current folder."""
    return {
        **variables,
        **database.variables(host),
        "DJANGO_SETTINGS_MODULE": "kiwi_settings",
    }


def restore(variables: Mapping[str, str], host: str, folder: Path) -> str:
    """Put the data set of the version and its database into an empty folder; return its digest.

    Nothing may listen yet at the address ``host``, where a database runs while it is made.
    """
    name = variables["TIDEMARK_DATABASE"]
    template = kept(
        f"kiwi-{variables['TIDEMARK_VERSION']}-{name}",
        _content(name),
        variables,
        lambda new: _make(new, variables, database_of(name), host),
    )
    shutil.copytree(template, folder, dirs_exist_ok=True)
    return _digest(folder)


def _content(name: str) -> bytes:
    """Return what a data set is made from: the packages, by their digest, and the programs."""
    programs = [_RECIPE, *sorted(_HERE.glob(f"{name}.*"))]
    return b"\0".join([Path(sys.prefix).name.encode(), *(path.read_bytes() for path in programs)])


def _make(new: Path, variables: Mapping[str, str], database: Database, host: str) -> None:
    new.mkdir()
    database.create(new)
    with running(database, new, host):
        command = [sys.executable, str(_RECIPE)]
        env = variables_of(variables, database, host)
        subprocess.run(command, cwd=new, env=env, check=True)


def _digest(folder: Path) -> str:
    """Return the SHA-256 of the paths and digests of all files."""
    sums = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        sums.update(f"{digest(path)}  {path.relative_to(folder)}\n".encode())
    return sums.hexdigest()
