"""The cache of what was installed, each folder whole or not there."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

_DIGITS = 12


def kept(
    name: str,
    content: bytes,
    variables: Mapping[str, str],
    make: Callable[[Path], None],
    python: str | None = None,
) -> Path:
    """Return the folder of ``name`` and ``content`` in the cache; ``make`` it if it is missing.

    ``content`` is all that the folder is made from: other content has another folder. ``python`` is
    the version of its Python, by default that of this process.
    """
    cache = Path(variables.get("TIDEMARK_CACHE") or Path.home() / ".cache" / "tidemark")
    digest = sha256(content).hexdigest()[:_DIGITS]
    folder = cache / f"{name}_python{python or platform.python_version()}_{digest}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="making-") as making:
            new = Path(making) / "new"
            make(new)
            _publish(new, folder)
    return folder


def _publish(new: Path, folder: Path) -> None:
    try:
        # One step, so that a task that starts meanwhile finds the whole folder or nothing.
        new.rename(folder)
    except OSError:
        # Another task was first: rename never replaces a folder that is not empty.
        if not folder.exists():
            raise
