"""The state folder: only its user may enter it, since it holds the key of the cloud."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private(state: Path) -> None:
    """Make the folder unless it exists, and close it to all other users.

    Raises
    ------
    OSError
        If the folder cannot be made or closed, or is one that all users share, such as ``/tmp``.

    """
    state.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    mode = state.stat().st_mode
    if mode & stat.S_ISVTX:
        raise PermissionError(errno.EPERM, "all users share this folder", str(state))
    if mode & _OTHERS:
        state.chmod(stat.S_IMODE(mode) & ~_OTHERS)
