"""What a person is told when an input is not accepted: one sentence."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from suites.keys import RUN_ID

if TYPE_CHECKING:  # a command that has no model starts without it
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

# No control character, and nothing that breaks a line.
ONE_LINE = r"^[^\p{Cc}\p{Zl}\p{Zp}]*$"
# What is accepted, by pydantic's name for an error, whose context has the names in braces.
_ACCEPTED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "names with values",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "greater_than": "a number above {gt:,.12g}",
    "greater_than_equal": "{ge:,.12g} or more",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_type": "a whole number",
    "less_than_equal": "{le:,.12g} or less",
    "list_type": "a list",
    "literal_error": "{expected}",
    "model_type": "names with values",
    "string_too_long": "a text of {max_length:,} characters or less",
    "string_too_short": "a text of {min_length} characters or more",
    "string_type": "a text",
    "string_unicode": "a text of Unicode characters",
    "too_long": "a list of {max_length:,} or less",
    "too_short": "a list of {min_length} or more",
    "tuple_type": "a list",
}
# The same for texts that have to have a form.
_FORMS = {
    ONE_LINE: "a text of one line without control characters",
    f"^{RUN_ID}$": "the form of 20261120T124455Z-0a1b2c",
}
_LONGEST_VALUE = 60
_MOST_NAMES = 20
# Of a value that is large or deep only the beginning is ever written out.
_BEGINNING = reprlib.Repr()
_BEGINNING.maxstring = _BEGINNING.maxlong = _BEGINNING.maxother = _LONGEST_VALUE
_BEGINNING.maxlevel = 3


class Refused(ValueError):
    """An input that is not accepted; its text is one sentence naming field, value and what is."""


def listed(names: Iterable[object]) -> str:
    """Return names as they stand in a sentence, ``a, b, c``; of many the first."""
    rest = iter(names)
    first = ", ".join(str(name) for name in islice(rest, _MOST_NAMES))
    more = sum(1 for _ in rest)
    return f"{first} and {more} more" if more else first


def shown(value: object) -> str:
    """Return a value as it stands in a sentence: on one line, printable, at most 60 characters."""
    text = _BEGINNING.repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def refusal(
    model: type[BaseModel], error: ValidationError, forms: Mapping[str, str] | None = None
) -> Refused:
    """Return the first complaint of pydantic about an input of ``model`` as a refusal.

    ``forms`` says, by regular expression of the model's own, what texts are accepted.
    """
    first = error.errors(include_url=False)[0]
    place = ".".join(_named(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = listed(_fields(model, first["loc"]))
        return Refused(f"{place}: unknown field; known are {known}")
    if first["type"] == "missing":
        return Refused(f"{place}: required, but missing")
    if first["type"] == "value_error":
        return Refused(f"{place}: {first['ctx']['error']}" if place else str(first["ctx"]["error"]))
    value, accepted = shown(first["input"]), _accepted(first, {**_FORMS, **(forms or {})})
    return Refused(f"{place or 'input'}: {value} is not accepted; expected {accepted}")


def _accepted(error: ErrorDetails, forms: Mapping[str, str]) -> str:
    """Return what would be accepted, as it ends a sentence."""
    context = error.get("ctx", {})
    if error["type"] == "string_pattern_mismatch":
        return forms[context["pattern"]]
    words = _ACCEPTED.get(error["type"])
    return words.format(**context) if words else error["msg"]


def _named(part: int | str) -> str:
    """Return a part of a field's place: a name that a person gave may be anything."""
    name = str(part)
    return name if name.isprintable() and 0 < len(name) <= _LONGEST_VALUE else shown(name)


def _fields(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """Return the field names of the model that ``path`` ends in."""
    for part in path[:-1]:
        field = model.model_fields.get(str(part)) if isinstance(part, str) else None
        nested = _model_in(field.annotation) if field else None
        model = nested or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401 (any annotation)
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if found := _model_in(inner):
            return found
    return None
