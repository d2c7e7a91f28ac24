"""Refusals of inputs, in one sentence each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.model.run_id import RUN_ID
from tidemark.model.sentences import LONGEST_VALUE, ONE_LINE, did_you_mean, listed, shown

if TYPE_CHECKING:  # commands without models start without pydantic
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

# Accepted values, by pydantic's name of the error; its context has the names in braces.
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
    "string_too_long": "a text of {max_length:,} characters or fewer",
    "string_too_short": "a text of {min_length} characters or more",
    "string_type": "a text",
    "string_unicode": "a text of Unicode characters",
    "too_long": "a list of {max_length:,} entries or fewer",
    "too_short": "a list of {min_length} entries or more",
    "tuple_type": "a list",
}
FORMS = {
    ONE_LINE: "a text of one line without control characters",
    f"^{RUN_ID}$": "the form of 20261120T124455Z-0a1b2c",
}
"""The accepted texts in words, by regular expression; ``form`` adds to them."""


def form(pattern: str, words: str) -> str:
    """Return the regular expression of a form; texts of another form are refused with its words."""
    FORMS[pattern] = words
    return pattern


class Refused(ValueError):
    """An input that is not accepted; the message names field, value and what is accepted."""


Place = tuple[int | str, ...]
"""The path to a value in an input, by key and by index in a list."""


class Problem(NamedTuple):
    """A reason not to accept an input, and the place of the value."""

    place: Place
    sentence: str


class Contradictions(ValueError):
    """Problems of values that are accepted one by one, but not together."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].sentence)
        self.problems = problems


def refusal(model: type[BaseModel], error: ValidationError) -> Refused:
    """Return the first of the ``problems`` as a refusal."""
    return Refused(next(problems(model, error)).sentence)


def problems(model: type[BaseModel], error: ValidationError) -> Iterator[Problem]:
    """Yield pydantic's errors about an input of ``model``."""
    for one in error.errors(include_url=False):
        if _follows(one):
            continue
        reason = one.get("ctx", {}).get("error")
        if isinstance(reason, Contradictions):
            yield from (within(one["loc"], found) for found in reason.problems)
        else:
            yield Problem(one["loc"], _sentence(model, one))


def _follows(error: ErrorDetails) -> bool:
    """Tell whether an error only follows from another one.

    Without a field that is not accepted, other fields have no defaults and lists are too short.
    """
    if error["type"] == "too_short":
        return len(error["input"]) >= int(error["ctx"]["min_length"])
    return error["type"] == "default_factory_not_called"


def problem(place: Place, sentence: str) -> Problem:
    """Return the problem of a value; the sentence is about the value at the place."""
    return Problem(place, f"{'.'.join(map(_printable, place))}: {sentence}")


def not_one(given: Sequence[str], known: Iterable[str], noun: str = "kind") -> Iterator[Problem]:
    """Yield why not exactly one of the ``known`` fields is given."""
    if len(given) != 1:
        there_is = f"there is {listed(given) or f'no {noun}'}"
        yield Problem((), f"{there_is}; expected exactly one of {listed(known)}")


def lone(fields: Mapping[str, bool]) -> Iterator[Problem]:
    """Yield the field of two that is given without the other one."""
    there, lacking = sorted(fields, key=lambda name: not fields[name])
    if fields[there] != fields[lacking]:
        yield problem((there,), f"it also needs {lacking}")


def within(place: Place, found: Problem) -> Problem:
    """Return a problem of a part, whose place begins in the part."""
    mark = ("." if found.place else ": ") if place else ""
    name = ".".join(map(_printable, place))
    return Problem((*place, *found.place), f"{name}{mark}{found.sentence}")


def _sentence(model: type[BaseModel], error: ErrorDetails) -> str:
    place = ".".join(_printable(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        known = _fields(model, error["loc"])
        near = did_you_mean(error["loc"][-1], known)
        return f"{place}: unknown field; known are {listed(known)}{near}"
    if error["type"] == "missing":
        return f"{place}: required, but missing"
    if error["type"] == "value_error":
        return f"{place}: {error['ctx']['error']}" if place else str(error["ctx"]["error"])
    value, accepted = shown(error["input"]), _accepted(error)
    return f"{place or 'input'}: {value} is not accepted; expected {accepted}"


def _accepted(error: ErrorDetails) -> str:
    """Return the accepted values as the end of a sentence."""
    context = error.get("ctx", {})
    if error["type"] == "string_pattern_mismatch":
        return FORMS[context["pattern"]]
    if error["type"] == "too_long" and isinstance(error["input"], dict):
        return f"{context['max_length']:,} names or fewer"
    words = _ACCEPTED.get(error["type"])
    return words.format(**context) if words else error["msg"]


def _printable(part: int | str) -> str:
    """Return a part of a field's path in printable form: a user may have named the field."""
    name = str(part)
    return name if name.isprintable() and 0 < len(name) <= LONGEST_VALUE else shown(name)


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


def mapping(value: object, *names: str) -> dict[str, Any]:
    """Return the mapping at the end of a path of names; an empty one if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def mappings(value: object, name: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the mappings in the list of a name, each with its place in the list."""
    found = mapping(value).get(name)
    entries = enumerate(found if isinstance(found, list) else ())
    return [(number, entry) for number, entry in entries if isinstance(entry, dict)]
