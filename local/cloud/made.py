"""Folders that are created once and kept while in use: assemblies, unpacked functions.

Each change of a source creates new folders, and the old ones are not used again.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

KEPT_DAYS = 14


def mark_used(folder: Path) -> None:
    """Record that a folder is in use."""
    os.utime(folder)


def remove_unused(parent: Path) -> None:
    """Remove the subfolders of ``parent`` that were not in use for ``KEPT_DAYS`` days."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for folder in parent.iterdir() if parent.exists() else ():
        if folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
