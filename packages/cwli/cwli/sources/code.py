"""Queries in CDK apps of Python: in calls, as far as they are literal."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from cwli.sources.written import (
    MOST_NAMES,
    Value,
    Written,
    added,
    in_one,
    inserted,
    joined,
    query_of,
    query_string,
)

_OF_QUERY = re.compile(r"query_?(?P<kind>string|lines)", re.IGNORECASE)
_CONSTRUCT = re.compile(r"\b(?:QueryDefinition|QueryString|LogQueryWidget)\b|\bCfnQueryDef")


def queries_of_python(file: Path, text: str) -> Iterator[Written]:
    """Yield the queries of a module; one without a place if the module cannot be read."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        if _CONSTRUCT.search(text):
            yield Written(file, 0, None, spans=False)
        return
    python = _Python(tree, text)
    for place, kind, value in python.places():
        found = query_of(python.value(value), kind) if value else None
        line, spans = python.line(value, found) if value else (place.lineno, False)
        yield Written(file, line - 1, found, spans)


class _Python:
    """The values of a module of Python."""

    def __init__(self, tree: ast.Module, text: str) -> None:
        self._tree = tree
        self._text = text
        self._names: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._names.setdefault(node.targets[0].id, []).append(node.value)
        self._depth = 0
        self._known: dict[str, Value] = {}

    def places(self) -> Iterator[tuple[ast.expr | ast.stmt, str, ast.expr | None]]:
        """Yield the places of queries in order, each with its kind and its value, if it has one."""
        found = sorted(self._places(), key=lambda place: (place[0].lineno, place[0].col_offset))
        yield from found

    def _places(self) -> Iterator[tuple[ast.expr | ast.stmt, str, ast.expr | None]]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                yield from self._of_call(node)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                named = _OF_QUERY.fullmatch(node.targets[0].id)
                if named and not _is_query_string(node.value):
                    yield node.value, named["kind"].lower(), node.value

    def _of_call(self, call: ast.Call) -> Iterator[tuple[ast.expr, str, ast.expr | None]]:
        if _is_query_string(call):
            yield call, "string", call
        arguments = [
            (each.value, named["kind"].lower())
            for each in call.keywords
            if each.arg and (named := _OF_QUERY.fullmatch(each.arg))
        ]
        for value, kind in arguments:
            if not _is_query_string(self._origin(value)):
                yield value, kind, value
        if not arguments and _callee(call) in {"CfnQueryDefinition", "LogQueryWidget"}:
            yield call, "string", None

    def _origin(self, value: ast.expr) -> ast.expr:
        """Return the only value of a name of the file, or the value itself."""
        values = self._names.get(value.id, []) if isinstance(value, ast.Name) else []
        return values[0] if len(values) == 1 else value

    def line(self, node: ast.expr, text: str | None) -> tuple[int, bool]:
        """Return the line at which a text begins, and whether each of its lines is one there."""
        origin = self._origin(node)
        breaks = (origin.end_lineno or origin.lineno) - origin.lineno
        is_literal = isinstance(origin, ast.Constant | ast.JoinedStr)
        return (origin if text else node).lineno, is_literal and breaks == (text or "").count("\n")

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        self._depth += 1
        try:
            return self._value(node) if self._depth < MOST_NAMES else None
        finally:
            self._depth -= 1

    def _value(self, node: ast.expr) -> Value:
        value: Value = None
        match node:
            case ast.Constant(value=str() | int() as literal):
                value = self._literal(node, literal)
            case ast.JoinedStr(values=parts):
                value = in_one([self._part(part) for part in parts])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                value = added(self.value(left), self.value(right))
            case ast.List(elts=items) | ast.Tuple(elts=items):
                value = [self.value(item) for item in items]
            case ast.Name(id=name) if (origin := self._origin(node)) is not node:
                value = self._named(name, origin)
            case ast.Call():
                value = self._called(node)
        return value

    def _named(self, name: str, origin: ast.expr) -> Value:
        """Return the value of a name, None within its own value."""
        if name not in self._known:
            self._known[name] = None
            self._known[name] = self.value(origin)
        return self._known[name]

    def _literal(self, node: ast.Constant, value: str | int) -> str:
        """Return a text with a line end after a backslash, so that its lines are the file's."""
        source = ast.get_source_segment(self._text, node) or ""
        is_continued = source.startswith(('"""\\\n', "'''\\\n"))
        return f"\n{value}" if is_continued else str(value)

    def _part(self, part: ast.expr) -> str:
        """Return a part of an f-string."""
        value = self.value(part.value if isinstance(part, ast.FormattedValue) else part)
        return value if isinstance(value, str) else inserted("x")

    def _called(self, call: ast.Call) -> Value:
        if _is_query_string(call):
            return query_string(
                {_camel(each.arg): self.value(each.value) for each in call.keywords if each.arg}
                if all(each.arg for each in call.keywords)
                else {"fields": None}
            )
        arguments = [self.value(each) for each in call.args]
        if _callee(call) in {"dedent", "cleandoc"} and arguments and isinstance(arguments[0], str):
            return textwrap.dedent(arguments[0])
        of = self.value(call.func.value) if isinstance(call.func, ast.Attribute) else None
        if _callee(call) == "join" and arguments:
            return joined(arguments[0], of)
        return of if _callee(call) in {"strip", "rstrip"} and not arguments else None


def _callee(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _is_query_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _callee(node) == "QueryString"


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)
