"""JSON as states hand it on: strict, compact and of limited size."""

from __future__ import annotations

import json
from typing import NoReturn, TypeAlias

from local.asl.errors import DATA_LIMIT_EXCEEDED, StateError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_BYTES = 256 * 1024


def parse(text: str) -> Json:
    """
    Read a JSON text.

    Raises
    ------
    ValueError
        If the text is no JSON, holds NaN or an infinity, or names a key of an object twice.
    """
    value: Json = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    return value


def dump(value: Json) -> str:
    """Write a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def limited(value: Json, what: str) -> Json:
    """Return the value; one above 256 KiB of JSON is States.DataLimitExceeded."""
    size = len(dump(value).encode())
    if size > MAX_BYTES:
        raise StateError(
            DATA_LIMIT_EXCEEDED,
            f"{size} bytes of JSON are too many for the {what}; at most {MAX_BYTES} are accepted.",
        )
    return value


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return members


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")
