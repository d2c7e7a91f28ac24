"""The folder ``damaged`` of a state folder, which takes what is damaged instead of a deletion."""

from __future__ import annotations

import time
from pathlib import Path


def move_aside(path: Path, state: Path) -> Path:
    """Move a file or folder of a state folder into ``damaged``; return its new place."""
    place = state / "damaged" / path.relative_to(state)
    place.parent.mkdir(parents=True, exist_ok=True)
    return path.rename(place.with_name(f"{place.name}.{time.time_ns()}"))
