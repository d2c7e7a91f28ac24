"""The parts of a file as it was read, whatever is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def mapping(value: object, *names: str) -> Mapping[str, Any]:
    """Return the mapping at the end of a path of names; an empty one if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def mappings(value: object, name: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the mappings in the list of a name, each with its place in the list."""
    found = mapping(value).get(name)
    entries = enumerate(found if isinstance(found, list) else ())
    return [(number, entry) for number, entry in entries if isinstance(entry, dict)]
