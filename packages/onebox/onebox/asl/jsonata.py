"""JSONata as Step Functions runs it: ``{% … %}`` strings in a JSON value, with variables."""

from __future__ import annotations

import hashlib
import math
import random
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, TypeAlias, TypeGuard

from jsonata import Jsonata, Tokenizer, Utils  # type: ignore[import-untyped]

from onebox.asl.errors import QUERY_EVALUATION_ERROR, StateError
from onebox.asl.payload import Json, parse

OnEvaluate: TypeAlias = Callable[[str, Mapping[str, Json], Json], None]

# The library raises Python errors where the reference implementation throws JSONata errors.
_ENGINE_ERRORS = (
    ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
_FORBIDDEN = {
    "eval": "$eval is not available in Step Functions, use $parse",
    "$": "$$ stands for the input document, which Step Functions does not have",
}
_HASHES = {
    "MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512",
}  # fmt: skip
_LONGEST_RANGE = 1000


class Template:
    """A JSON value in which any string may be a JSONata expression between ``{%`` and ``%}``."""

    def __init__(self, source: Json) -> None:
        self.source = source

    def problems(self) -> Iterator[str]:
        """Yield a message for each expression that cannot be evaluated."""
        for text in _strings(self.source):
            if is_expression(text) != text.endswith("%}"):
                yield f"the string {text!r} must begin with '{{%' and end with '%}}', or neither"
            elif is_expression(text):
                yield from _expression_problems(_expression(text))

    def evaluate(self, bindings: Mapping[str, Json], on_evaluate: OnEvaluate | None = None) -> Json:
        """
        Return the value with every expression replaced by its result.

        Parameters
        ----------
        bindings
            The value of each variable, by its name without ``$``.
        on_evaluate
            The function that is called with each expression, the bindings that the expression
            names, and the result.

        Raises
        ------
        StateError
            States.QueryEvaluationError, if an expression fails or its result is undefined.
        """

        def replace(value: Json) -> Json:
            if isinstance(value, dict):
                return {name: replace(member) for name, member in value.items()}
            if isinstance(value, list):
                return [replace(item) for item in value]
            if not is_expression(value):
                return value
            expression = _expression(value)
            names = _variables(expression)
            used = {name: binding for name, binding in bindings.items() if name in names}
            result = _evaluate(expression, used)
            if on_evaluate is not None:
                on_evaluate(expression, used, result)
            return result

        return replace(self.source)


def is_expression(value: Json) -> TypeGuard[str]:
    """Tell whether a value is a string that begins with ``{%``."""
    return isinstance(value, str) and value.startswith("{%")


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        yield from _strings(list(value.values()))


def _expression(text: str) -> str:
    return text[2:-2].strip()


def _expression_problems(expression: str) -> Iterator[str]:
    try:
        Jsonata(expression)
        names = _variables(expression)
    except _ENGINE_ERRORS as error:
        yield f"the JSONata expression {expression!r} does not parse: {error}"
    else:
        for name in sorted(names & _FORBIDDEN.keys()):
            yield f"the JSONata expression {expression!r} is refused: {_FORBIDDEN[name]}"


@cache
def _variables(expression: str) -> frozenset[str]:
    tokens = Tokenizer(expression)
    # The token before a "/" decides whether it divides or opens a regular expression.
    names, operand = set[str](), False
    while (token := tokens.next(operand)) is not None:
        operand = token.type != "operator" or token.value in (")", "]", "}")
        if token.type == "variable":
            names.add(token.value)
    return frozenset(names)


def _evaluate(expression: str, bindings: Mapping[str, Json]) -> Json:
    frame: dict[str, Any] = dict(_FUNCTIONS)
    frame.update((name, _to_engine(value)) for name, value in bindings.items())
    # A new engine each time: the library evaluates in the last engine of its thread.
    engine = Jsonata(expression)
    engine.set_output_convert_nulls(False)
    try:
        result = engine.evaluate(None, frame)
        if result is not None:
            return _from_engine(result)
    except _ENGINE_ERRORS as error:
        cause = f"The JSONata expression '{expression}' failed: {error}."
        raise StateError(QUERY_EVALUATION_ERROR, cause) from error
    cause = f"The JSONata expression '{expression}' returned nothing (undefined)."
    raise StateError(QUERY_EVALUATION_ERROR, cause)


def _to_engine(value: Json) -> Any:  # noqa: ANN401 (the engine is untyped)
    """Return a copy of a value, which the engine may change, with null as the engine's null."""
    if value is None:
        return Utils.NULL_VALUE
    if isinstance(value, list):
        return [_to_engine(item) for item in value]
    if isinstance(value, dict):
        return {name: _to_engine(member) for name, member in value.items()}
    return value


def _from_engine(value: Any) -> Json:  # noqa: ANN401
    if value is None or value is Utils.NULL_VALUE:
        return None
    if isinstance(value, list):
        return [_from_engine(item) for item in value]
    if isinstance(value, dict):
        return {name: _from_engine(member) for name, member in value.items()}
    if isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise TypeError(f"its result holds a {type(value).__name__}, which is not JSON")


# The functions that Step Functions adds (AWS documentation, "Transforming data with JSONata").


def _partition(array: list[Any], size: int) -> list[list[Any]]:
    if not _is_whole(size) or size < 1:
        raise ValueError(f"$partition: the size {size!r} must be a whole number from 1")
    items = iter(array)
    return list(iter(lambda: list(islice(items, size)), []))


def _range(first: int, last: int, step: int) -> list[int]:
    if not all(map(_is_whole, (first, last, step))) or step == 0:
        raise ValueError("$range: first, last and step must be whole numbers, step not 0")
    numbers = range(first, last + (1 if step > 0 else -1), step)
    if len(numbers) > _LONGEST_RANGE:
        raise ValueError(f"$range: {len(numbers)} numbers exceed the maximum of {_LONGEST_RANGE}")
    return list(numbers)


def _hash(text: str, algorithm: str) -> str:
    if not isinstance(text, str) or algorithm not in _HASHES:
        raise ValueError(f"$hash takes a string and one of {', '.join(_HASHES)}")
    return hashlib.new(_HASHES[algorithm], text.encode(), usedforsecurity=False).hexdigest()


def _random(seed: float | None = None) -> float:
    return random.Random(seed).random()  # noqa: S311 (no secret)


def _parse(text: str) -> Any:  # noqa: ANN401
    if not isinstance(text, str):
        raise TypeError("$parse takes a string")
    return _to_engine(parse(text))


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


_FUNCTIONS = {
    name: Jsonata.JLambda(function)
    for name, function in {
        "hash": _hash,
        "parse": _parse,
        "partition": _partition,
        "random": _random,
        "range": _range,
        "uuid": lambda: str(uuid.uuid4()),
    }.items()
}
