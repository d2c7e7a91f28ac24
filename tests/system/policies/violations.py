"""Violations of an API's model by the parameters of a call.

A botocore client checks the form and the lower bounds of what it sends, and leaves enumerations,
upper bounds and patterns to the service.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import regex
from botocore.validate import ParamValidator


def violations(parameters: Any, shape: Any) -> list[str]:
    """Return what a model's shape refuses in the parameters of a call, a line for each."""
    form = ParamValidator().validate(parameters, shape).generate_report()
    # Parameters of another form have no values to look at.
    return form.splitlines() or [*_of_value(parameters, shape, shape.name)]


def _of_value(value: Any, shape: Any, place: str) -> Iterator[str]:
    match shape.type_name:
        case "structure":
            for name, member in value.items():
                yield from _of_value(member, shape.members[name], f"{place}.{name}")
        case "list":
            yield from _above(len(value), shape, f"the length of {place}")
            for member in value:
                yield from _of_value(member, shape.member, f"{place}[]")
        case "map":
            for key, member in value.items():
                yield from _of_value(key, shape.key, f"a key of {place}")
                yield from _of_value(member, shape.value, f"{place}.{key}")
        case "string":
            yield from _of_text(value, shape, place)
        case "integer" | "long" | "float" | "double":
            yield from _above(value, shape, place)


def _of_text(text: str, shape: Any, place: str) -> Iterator[str]:
    yield from _above(len(text), shape, f"the length of {place}")
    if shape.enum and text not in shape.enum:
        yield f"{place}: {text!r} is none of {', '.join(shape.enum)}"
    # Java's expressions, which match a whole text and know classes such as \p{L}.
    pattern = shape.metadata.get("pattern")
    if pattern and not regex.fullmatch(pattern, text):
        yield f"{place}: {text!r} does not match {pattern}"


def _above(size: float, shape: Any, name: str) -> Iterator[str]:
    most = shape.metadata.get("max")
    if most is not None and size > most:
        yield f"{name}: {size} is more than {most}"
