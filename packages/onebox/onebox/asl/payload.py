"""The JSON that states pass on: strict, compact and of limited size."""

from __future__ import annotations

import json
from typing import NoReturn, TypeAlias

from onebox.asl.errors import DATA_LIMIT_EXCEEDED, StateError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_BYTES = 256 * 1024


def parse(text: str) -> Json:
    """
    Return the value of a JSON text.

    Raises
    ------
    ValueError
        If the text is not JSON, holds NaN or an infinity, or repeats a key of an object.
    """
    value: Json = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    return value


def dump(value: Json) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def limited(value: Json, subject: str) -> Json:
    """Return a value, or raise States.DataLimitExceeded if its JSON exceeds 256 KiB."""
    size = len(dump(value).encode())
    if size > MAX_BYTES:
        raise StateError(
            DATA_LIMIT_EXCEEDED,
            f"{size} bytes of JSON for the {subject} exceed the maximum of {MAX_BYTES} bytes.",
        )
    return value


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {duplicate!r} is used twice")
    return members


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
