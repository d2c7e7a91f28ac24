"""The queries of CDK apps, from the values of their code: texts, lists of them and QueryStrings.

Each inserted value that is no literal stands as ``${…}`` in the text.
"""

from __future__ import annotations

from collections.abc import Mapping

from cwli.insights.parser import MOST_CHARACTERS
from cwli.sources.written import in_one, inserted, known

Value = str | list["Value"] | None
"""A text, a list, or None for a value that is computed."""
MOST_NAMES = 20
"""The maximum depth of names of constants within each other."""
# The commands of a QueryString in the order of the CDK, each with the properties that hold it: a
# list, which counts alone, or a single one (aws-cdk-lib, aws-logs/lib/query-definition.ts).
_COMMANDS = {
    "fields": ("fields",),
    "parse": ("parseStatements", "parse"),
    "filter": ("filterStatements", "filter"),
    "stats": ("statsStatements", "stats"),
    "sort": ("sort",),
    "limit": ("limit",),
    "display": ("display",),
}


def query_of(value: Value, kind: str) -> str | None:
    """Return the query of a value; LogQueryWidget joins its lines in this way."""
    if isinstance(value, str) and kind == "string":
        return known(value)
    if isinstance(value, list) and kind == "lines":
        lines = [line for line in value if isinstance(line, str)]
        return known(in_one(lines, "\n| ")) if len(lines) == len(value) else None
    return None


def query_string(properties: Mapping[str, Value]) -> Value:
    """Return the query of a QueryString, None if a property is computed."""
    lines = []
    for command, names in _COMMANDS.items():
        name = next((name for name in names if name in properties), "")
        value = properties[name] if name else []
        if value is None or (isinstance(value, list) and None in value):
            return None
        parts = value if isinstance(value, list) else [value]
        statements = [part for part in parts if isinstance(part, str)]
        if command == "fields" and statements:
            statements = [in_one(statements, ", ") or ""]
        lines += [f"{command} {statement}" for statement in statements if statement]
    return in_one(lines, "\n| ")


def joined(parts: Value, separator: Value) -> Value:
    """Return a list of texts as one, None if a part or the separator is computed."""
    if not isinstance(parts, list) or not isinstance(separator, str):
        return None
    texts = [part for part in parts if isinstance(part, str)]
    return in_one(texts, separator) if len(texts) == len(parts) else None


def added(left: Value, right: Value) -> Value:
    """Return a sum of texts, in which a computed one is inserted, or of lists."""
    if isinstance(left, list) and isinstance(right, list):
        return [*left, *right] if len(left) + len(right) <= MOST_CHARACTERS else None
    if isinstance(left, list) or isinstance(right, list) or left is right is None:
        return None
    return in_one([inserted("x") if part is None else part for part in (left, right)])
