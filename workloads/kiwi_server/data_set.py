"""The data set of a version: made once, kept in the cache, and copied for each trial."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from harness.cache import kept
from harness.storage import digest

_HERE = Path(__file__).parent
_RECIPE = _HERE / "make_data_set.py"
_FILE = "kiwi.sqlite"


def variables_of(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a program that uses the data set in its current folder."""
    return {
        **variables,
        "DJANGO_SETTINGS_MODULE": "tcms.settings.product",
        "KIWI_DB_ENGINE": "django.db.backends.sqlite3",
        # Kiwi TCMS takes an absolute path of a file for a secret, and reads it.
        "KIWI_DB_NAME": _FILE,
        "PYTHONPATH": f"{_HERE / 'compatibility'}:{variables['PYTHONPATH']}",
    }


def restore(variables: Mapping[str, str], folder: Path) -> str:
    """Put the data set of the version into an empty folder; return the SHA-256 of its database."""
    template = kept(_name(variables), _content(), variables, lambda new: _make(new, variables))
    shutil.copyfile(template / _FILE, folder / _FILE)
    return digest(folder / _FILE)


def _name(variables: Mapping[str, str]) -> str:
    return f"kiwi-{variables['TIDEMARK_VERSION']}-sqlite"


def _content() -> bytes:
    """Return what the data set is made from: the packages, by their digest, and the recipe."""
    return b"\0".join([Path(sys.prefix).name.encode(), _RECIPE.read_bytes()])


def _make(new: Path, variables: Mapping[str, str]) -> None:
    new.mkdir()
    command = [sys.executable, str(_RECIPE)]
    subprocess.run(command, cwd=new, env=variables_of(variables), check=True)
