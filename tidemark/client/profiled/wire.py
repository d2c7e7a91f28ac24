"""The wire format of protocol buffers.

Source: protobuf.dev, "Encoding".
"""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.store.profiles.file_content import Unreadable

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST_VARINT = 10  # [B]

Value = int | memoryview


def message(data: memoryview) -> Iterator[tuple[int, Value]]:
    """Yield the number and the value of each field of a message.

    Raises
    ------
    Unreadable
        If the data are cut off or no message.

    """
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _varint(data, place)
            yield number, value
            continue
        if kind == _BYTES:
            size, place = _varint(data, place)
        elif kind in {_EIGHT_BYTES, _FOUR_BYTES}:
            size = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise Unreadable("it is neither text nor a profile of pprof")
        if place + size > len(data):
            raise Unreadable("its protocol buffer ends too early; expected a whole file")
        yield number, data[place : place + size]
        place += size


def numbers(value: Value) -> Iterator[int]:
    """Yield the numbers of a repeated field: packed ones, or a single one."""
    if isinstance(value, int):
        yield value
        return
    place = 0
    while place < len(value):
        number, place = _varint(value, place)
        yield number


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    """Return a number and the place behind it."""
    value = 0
    for index, byte in enumerate(data[place : place + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, place + index + 1
    raise Unreadable("its protocol buffer ends too early; expected a whole file")
