"""Whether IAM allows a request: policy statements and how they are evaluated.

Source: AWS Identity and Access Management user guide, "Policy evaluation logic", "IAM JSON policy
elements: Action, Resource, Condition operators". What is not written here is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

Condition = tuple[str, str, tuple[str, ...]]

_ELEMENTS = {"Sid", "Effect", "Principal", "Action", "Resource", "Condition"}


class Unsupported(ValueError):
    """Something of a policy, or a call, that is not understood; names it."""


@dataclass(frozen=True)
class Request:
    """
    What IAM is asked: may this action be done with this resource?

    Attributes
    ----------
    action
        ``s3:GetObject``.
    resource
        An ARN; ``*`` for an action that takes no resource, which only the resource ``*`` allows.
    context
        Pairs of a condition key and its value.
    """

    action: str
    resource: str
    context: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Statement:
    """A statement of a policy. A value matches if one of those that are listed does."""

    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    """Operator, condition key and values; all of them must hold."""

    def applies(self, request: Request) -> bool:
        """Tell whether it says anything about a request."""
        return (
            any(_like(action.lower(), request.action.lower()) for action in self.actions)
            and any(_like(resource, request.resource) for resource in self.resources)
            and all(_holds(condition, dict(request.context)) for condition in self.conditions)
        )

    def narrowed(self) -> Iterator[Statement]:
        """Yield statements of one action, resource and value each that together say the same."""
        values = [
            [(operator, key, (value,)) for value in listed]
            for operator, key, listed in self.conditions
        ]
        for action, resource, *conditions in product(self.actions, self.resources, *values):
            yield Statement(self.effect, (action,), (resource,), tuple(conditions))


def read_statements(document: Mapping[str, Any]) -> list[Statement]:
    """
    Return the statements of a policy document.

    Raises
    ------
    Unsupported
        If it has an element, a condition operator or a variable that is not understood.
    """
    return [_statement(statement) for statement in _listed(document["Statement"])]


def allowed(request: Request, statements: Iterable[Statement]) -> bool:
    """Tell whether a statement allows a request and none denies it."""
    effects = {statement.effect for statement in statements if statement.applies(request)}
    return effects == {"Allow"}


def _statement(written: Mapping[str, Any]) -> Statement:
    if unknown := sorted(written.keys() - _ELEMENTS):
        raise Unsupported(f"{unknown[0]} of a statement; accepted: {', '.join(sorted(_ELEMENTS))}")
    conditions = tuple(
        (operator, key, tuple(_listed(values)))
        for operator, keys in written.get("Condition", {}).items()
        for key, values in keys.items()
    )
    for operator, _, _ in conditions:
        if operator not in _OPERATORS:
            accepted = ", ".join(sorted(_OPERATORS))
            raise Unsupported(f"the condition operator {operator}; accepted: {accepted}")
    statement = Statement(
        written["Effect"],
        tuple(_listed(written["Action"])),
        tuple(_listed(written["Resource"])),
        conditions,
    )
    texts = [*statement.resources, *(value for _, _, values in conditions for value in values)]
    for text in texts:
        if "${" in text:
            raise Unsupported(f"the variable in {text}; accepted: none")
    return statement


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _holds(condition: Condition, context: Mapping[str, str]) -> bool:
    operator, key, wanted = condition
    # A key that a request does not have fails these operators.
    return key in context and any(_OPERATORS[operator](value, context[key]) for value in wanted)


def _arn_like(pattern: str, arn: str) -> bool:
    """Match the six parts of an ARN one by one: a wildcard does not reach beyond its part."""
    parts, found = pattern.split(":", 5), arn.split(":", 5)
    return len(parts) == len(found) and all(map(_like, parts, found))


def _like(pattern: str, text: str) -> bool:
    return _wildcard(pattern).fullmatch(text) is not None


@cache
def _wildcard(pattern: str) -> re.Pattern[str]:
    escaped = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(escaped, re.DOTALL)


_OPERATORS: Mapping[str, Callable[[str, str], bool]] = {
    # ArnEquals and ArnLike behave identically.
    "ArnEquals": _arn_like,
    "ArnLike": _arn_like,
    "Bool": lambda wanted, value: wanted == value,
    "StringEquals": lambda wanted, value: wanted == value,
    "StringLike": _like,
}
