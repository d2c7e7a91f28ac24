"""Evaluation of policy statements: does IAM allow a request?

Source: AWS Identity and Access Management user guide, "Policy evaluation logic", "IAM JSON policy
elements: Action, Resource, Condition operators". An error names whatever is not supported here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

Condition = tuple[str, str, tuple[str, ...]]

_ELEMENTS = {"Sid", "Effect", "Principal", "Action", "Resource", "Condition"}


class Unsupported(ValueError):
    """A part of a policy or a call is not supported; the message names it."""


@dataclass(frozen=True)
class Request:
    """IAM request: is this action on this resource allowed?

    Attributes
    ----------
    action
        Action, such as ``s3:GetObject``.
    resource
        ARN, or ``*`` for an action without resources, which only the resource ``*`` allows.
    context
        Pairs of condition key and value.
    """

    action: str
    resource: str
    context: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Statement:
    """Policy statement. A value matches if one of the listed patterns matches."""

    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    """Operator, condition key and values of each condition; all conditions must hold."""

    def applies(self, request: Request) -> bool:
        """Tell whether this statement applies to a request."""
        return (
            any(_like(action.lower(), request.action.lower()) for action in self.actions)
            and any(_like(resource, request.resource) for resource in self.resources)
            and all(_holds(condition, dict(request.context)) for condition in self.conditions)
        )


def read_statements(document: Mapping[str, Any]) -> list[Statement]:
    """Return the statements of a policy document.

    Raises
    ------
    Unsupported
        If the document has an unsupported element, condition operator or variable.
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


def _listed(value: Any) -> Sequence[Any]:  # noqa: ANN401 (one value or a list of them)
    return value if isinstance(value, list) else [value]


def _holds(condition: Condition, context: Mapping[str, str]) -> bool:
    operator, key, patterns = condition
    # These operators fail if the request does not have the key, in capital or small letters.
    given = [value for name, value in context.items() if name.lower() == key.lower()]
    return any(_OPERATORS[operator](pattern, value) for pattern in patterns for value in given)


def _arn_like(pattern: str, arn: str) -> bool:
    """Match the six parts of an ARN one by one; a wildcard stays within its part."""
    patterns, parts = pattern.split(":", 5), arn.split(":", 5)
    return len(patterns) == len(parts) and all(map(_like, patterns, parts))


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
    "Bool": lambda expected, value: expected == value,
    "StringEquals": lambda expected, value: expected == value,
    "StringLike": _like,
}
