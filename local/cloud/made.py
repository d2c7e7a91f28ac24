"""Folders that are made once for what they hold and kept: assemblies, unpacked functions.

Each change of a source makes new ones, and nobody asks for the old again.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

KEPT_DAYS = 14


def mark_used(folder: Path) -> None:
    """Note that a folder is in use."""
    os.utime(folder)


def remove_unused(parent: Path) -> None:
    """Remove the folders of a parent that were not in use for ``KEPT_DAYS`` days."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for folder in parent.iterdir() if parent.exists() else ():
        if folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
