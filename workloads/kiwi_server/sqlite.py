"""SQLite: Kiwi TCMS itself reads and writes the file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

TITLE = "SQLite"


def version() -> str:
    """Return the version of the library that Python has."""
    return sqlite3.sqlite_version


def variables(_host: str) -> dict[str, str]:
    """Return the variables that lead Kiwi TCMS to the file in its current folder."""
    return {
        "KIWI_DB_ENGINE": "django.db.backends.sqlite3",
        # Kiwi TCMS takes an absolute path of a file for a secret, and reads it.
        "KIWI_DB_NAME": "kiwi.sqlite",
    }


def create(_folder: Path) -> None:
    """Do nothing: the first connection makes the file."""


def command(_folder: Path, _host: str) -> list[str]:
    """Return no program."""
    return []


def answers(_host: str) -> bool:
    """Return True: there is nothing to wait for."""
    return True
