"""A profile of pprof, which Go, gperftools and others write.

Source: google/pprof, proto/profile.proto; the numbers are its fields' numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tidemark.figures.profiles.folded_stacks import SEPARATOR, folded
from tidemark.store.folded_file import SAMPLES, Tally, Unreadable

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
    """Yield the numbers of a repeated field: packed numbers, or a single number."""
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


_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING, _DEFAULT_TYPE = 1, 2, 4, 5, 6, 14
_ID, _TYPE, _UNIT, _NAME = 1, 1, 2, 2
_LOCATIONS, _VALUES = 1, 2
_ADDRESS, _LINE, _LINE_FUNCTION = 3, 4, 1
_MOST_PARTS = 1_000_000
"""The most samples, locations, functions and texts together: each takes memory, however small."""
_LARGEST_SAMPLE = 1 << 16  # [B]
_LONGEST_STACK = 1 << 20
"""The most characters of a stack: few bytes of a sample name a long function many times."""
_COUNTS = ("samples", "sample")
"""The names of a type of value that counts samples."""


class _Sample(NamedTuple):
    locations: Sequence[int]
    """The leaf first."""
    values: Sequence[int]


class _Type(NamedTuple):
    """The places of a type's name and unit in the texts."""

    name: int
    unit: int


class _Fields(NamedTuple):
    """The fields of a profile by number."""

    types: list[_Type]
    samples: list[memoryview]
    locations: list[memoryview]
    functions: list[memoryview]
    texts: list[str]
    default: list[int]


def add_pprof(data: bytes, tally: Tally) -> str:
    """Add the samples of a profile; return their unit, such as ``samples`` or ``nanoseconds``.

    A profile with several values for each sample counts those that are numbers of samples, or else
    its default values, or the last values.

    Raises
    ------
    Unreadable
        If the data are cut off or no profile.

    """
    fields = _fields(data)
    try:
        chosen, names = _chosen(fields), _frames(fields)
        for each in fields.samples:
            sample = _sample(each)
            frames = _stack(sample, names) or ["[unknown]"]
            value = _signed(sample.values[chosen])
            if value < 0:
                raise Unreadable("it has negative values, as a difference has; expected a profile")
            tally.add(folded(reversed(frames)), value)
        return _unit(fields, fields.types[chosen])
    except (KeyError, IndexError):
        raise Unreadable("it is not a profile of pprof: a part that it names is missing") from None


def _fields(data: bytes) -> _Fields:
    found = _Fields([], [], [], [], [], [])
    parts = {_SAMPLE: found.samples, _LOCATION: found.locations, _FUNCTION: found.functions}
    for place, (number, value) in enumerate(message(memoryview(data))):
        if place == _MOST_PARTS:
            raise Unreadable(f"it has more than {_MOST_PARTS:,} samples and names")
        if isinstance(value, int):
            if number == _DEFAULT_TYPE:
                found.default.append(value)
        elif number == _STRING:
            found.texts.append(bytes(value).decode(errors="replace"))
        elif number == _SAMPLE_TYPE:
            found.types.append(_Type(_number(value, _TYPE), _number(value, _UNIT)))
        elif number in parts:
            parts[number].append(value)
    if not found.types or not found.texts:
        raise Unreadable("it is not a profile of pprof: it has no types of values")
    return found


def _chosen(fields: _Fields) -> int:
    """Return the place of the values that count."""
    types = [fields.texts[each.name] for each in fields.types]
    default = [fields.texts[each] for each in fields.default]
    return next((types.index(name) for name in (*_COUNTS, *default) if name in types), -1)


def _unit(fields: _Fields, chosen: _Type) -> str:
    """Return the unit of a type of value, or else its name."""
    name = fields.texts[chosen.name]
    return SAMPLES if name in _COUNTS else fields.texts[chosen.unit] or name


def _frames(fields: _Fields) -> Mapping[int, Sequence[str]]:
    """Return the names of the frames of each location, the leaf first."""
    functions = {
        _number(each, _ID): fields.texts[_number(each, _NAME)] for each in fields.functions
    }
    found: dict[int, Sequence[str]] = {}
    for location in fields.locations:
        parts = list(message(location))
        lines = [value for number, value in parts if number == _LINE]
        names = [functions[_number(_part(line), _LINE_FUNCTION)] for line in lines]
        address = next((value for number, value in parts if number == _ADDRESS), 0)
        found[_number(location, _ID)] = names or [f"[0x{address:x}]"]
    return found


def _sample(data: memoryview) -> _Sample:
    if len(data) > _LARGEST_SAMPLE:
        raise Unreadable(f"it has a sample of more than {_LARGEST_SAMPLE:,} bytes")
    fields = list(message(data))
    locations = [
        each for number, value in fields if number == _LOCATIONS for each in numbers(value)
    ]
    values = [each for number, value in fields if number == _VALUES for each in numbers(value)]
    return _Sample(locations, values)


def _stack(sample: _Sample, names: Mapping[int, Sequence[str]]) -> list[str]:
    """Return the names of a sample's frames, the leaf first."""
    frames, room = list[str](), _LONGEST_STACK
    for name in (name for place in sample.locations for name in names[place]):
        room -= len(name) + len(SEPARATOR)
        if room < 0:
            raise Unreadable(f"it has a stack of more than {_LONGEST_STACK:,} characters")
        frames.append(name)
    return frames


def _number(data: memoryview, field: int) -> int:
    """Return a number of a message, 0 without one, as protocol buffers have it."""
    found = (value for number, value in message(data) if number == field)
    value = next(found, 0)
    if not isinstance(value, int):
        raise Unreadable("it is not a profile of pprof: a number has another form")
    return value


def _part(value: Value) -> memoryview:
    if isinstance(value, int):
        raise Unreadable("it is not a profile of pprof: a line has another form")
    return value


def _signed(value: int) -> int:
    """Return a number of 64 bits with its sign."""
    return value - 2**64 if value >= 2**63 else value
