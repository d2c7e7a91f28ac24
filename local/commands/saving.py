"""Files that a command is asked to write."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from suites.refusal import Refused


def check_folder(output: Path | None) -> None:
    """Refuse a file in a folder that is not there, before anything is done to fill it."""
    if output and not output.parent.is_dir():
        raise Refused(f"--output: there is no folder {output.parent}")


def save(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, and its folder if that is not there.

    What a link leads to is written, and a file that is there keeps its mode. A device or pipe is
    written as it is.

    Raises
    ------
    Refused
        If it cannot be written.

    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        path = Path(os.path.realpath(path))  # Path.resolve raises what is no OSError
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".unfinished-") as folder:
            written = Path(folder) / path.name
            written.write_bytes(content)
            if path.exists():
                written.chmod(stat.S_IMODE(path.stat().st_mode))
            written.replace(path)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}") from None
