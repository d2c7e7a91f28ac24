"""The data set of a version: made once for each database, kept in the cache, and copied."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from database import Database, database_of, running
from harness.installation import kept
from harness.storage import digest

_HERE = Path(__file__).parent
_RECIPE = _HERE / "make_data_set.py"


def variables_of(variables: Mapping[str, str], database: Database, host: str) -> dict[str, str]:
    """Return the variables of a program that uses the data set in its current folder."""
    return {
        **variables,
        **database.variables(host),
        "DJANGO_SETTINGS_MODULE": "settings_without_mail",
        "PYTHONPATH": f"{_HERE / 'compatibility'}:{variables['PYTHONPATH']}",
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
