"""Queries in CDK apps of Python, TypeScript and JavaScript, as far as they are literal.

The values of code are texts, lists of them and QueryStrings; an inserted value other than a literal
stands as ``${…}`` in the text.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from cwli.insights.parser import MOST_CHARACTERS
from cwli.sources.written import Written, filled, in_one, inserted, known, plain

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
_OF_QUERY = re.compile(r"query_?(?P<kind>string|lines)", re.IGNORECASE)
_CONSTRUCT = re.compile(r"\b(?:QueryDefinition|QueryString|LogQueryWidget)\b|\bCfnQueryDef")
_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<text>`(?:[^`\\]|\\.)*`|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<name>[A-Za-z_$][\w$]*)|(?P<number>\d[\d_]*)|(?P<sign>=>|[=!]==?|.)",
    re.DOTALL,
)
_INSERTED_NAME = re.compile(r"\$\{\s*([\w.$]+)\s*\}")
_DECLARING = {"const", "let", "var", "readonly", "static"}
_OPERATORS = set("+-*/%?.[(&|<>=")
_OPENING, _CLOSING = {"(", "[", "{"}, {")", "]", "}"}
_OPENING, _CLOSING = {"(", "[", "{"}, {")", "]", "}"}
_WITH_QUERY = {"CfnQueryDefinition", "QueryDefinition", "LogQueryWidget"}


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


def queries_of_script(file: Path, text: str) -> Iterator[Written]:
    """Yield the queries of a file."""
    script = _Script(text)
    for at, kind, value_at in script.places():
        found = None if value_at is None else query_of(script.whole(value_at), kind)
        token = script.origin(value_at) if found is not None and value_at is not None else None
        place = token or script.tokens[at]
        spans = kind == "string" and bool(token) and _breaks(place) == (found or "").count("\n")
        yield Written(file, text.count("\n", 0, place.start()), found, spans)


def _breaks(token: re.Match[str]) -> int:
    return token[0].count("\n")


class _Script:
    """The values of a file of TypeScript or JavaScript."""

    def __init__(self, text: str) -> None:
        self.tokens = [each for each in _TOKEN.finditer(text) if each.lastgroup != "blank"]
        self._depth = 0
        self._known: dict[int, Value] = {}
        self._constants: dict[str, list[int]] = {}
        for at in range(len(self.tokens) - 1):
            if self._word(at) in _DECLARING and (start := self._assigned(at + 1)):
                self._constants.setdefault(self._word(at + 1), []).append(start)

    def _word(self, at: int) -> str:
        return self.tokens[at][0] if at < len(self.tokens) else ""

    def _assigned(self, at: int) -> int | None:
        """Return the place after the equals sign that follows a name and its type."""
        for end in range(at + 1, at + 8):
            if self._word(end) == "=":
                return end + 1
            if self._word(end) in {";", "(", ")", "{", "}", ",", ""}:
                break
        return None

    def places(self) -> Iterator[tuple[int, str, int | None]]:
        """Yield the places of queries in order, each with its kind and the place of its value."""
        for at in range(len(self.tokens)):
            word = self._word(at).strip("\"'")
            if word == "QueryString" and self._word(at + 1) == "(":
                yield at, "string", at
            elif kind := re.fullmatch("query(String|Lines)", word):
                value = self._value_of_query(at)
                if value is not None and not self._is_query_string(self._constant(value)):
                    yield at, kind[1].lower(), value
            elif word in _WITH_QUERY and self._word(at + 1) == "(" and self._lacks_query(at + 1):
                yield at, "string", None

    def _value_of_query(self, at: int) -> int | None:
        """Return the place of the value of a property or constant, None for a type."""
        if self._word(at + 1) not in {":", "="}:
            return None
        last = self._last_of_path(at + 2)
        is_type = self._word(last) in {"string", "QueryString"} and self._word(last + 1) != "("
        return self._assigned(at) if is_type else at + 2

    def _lacks_query(self, at: int) -> bool:
        """Tell whether the arguments in brackets hold no query, or only a computed one."""
        inner = range(at, self._after_bracket(at))
        named = [
            each
            for each in inner
            if re.fullmatch(r"[\"']?query(?:String|Lines)[\"']?", self._word(each))
        ]
        return not any(
            self._word(each + 1) == ":" or self._word(each) in self._constants for each in named
        )

    def _after_bracket(self, at: int) -> int:
        depth = 0
        while at < len(self.tokens):
            depth += (self._word(at) in _OPENING) - (self._word(at) in _CLOSING)
            at += 1
            if depth <= 0:
                break
        return at

    def _last_of_path(self, at: int) -> int:
        """Return the place of the last name of a path such as ``new logs.QueryString``."""
        at += self._word(at) == "new"
        while self._word(at + 1) == "." and at + 2 < len(self.tokens):
            at += 2
        return at

    def _is_query_string(self, at: int) -> bool:
        last = self._last_of_path(at)
        return self._word(last) == "QueryString" and self._word(last + 1) == "("

    def _constant(self, at: int) -> int:
        """Return the place of the value of a constant of the file, or the place itself."""
        last = self._last_of_path(at)
        values = self._constants.get(self._word(last), [])
        return values[0] if len(values) == 1 and self._word(last + 1) not in _OPERATORS else at

    def origin(self, at: int) -> re.Match[str] | None:
        """Return the text at a place, or the constant that is named there."""
        token = self.tokens[self._constant(at)]
        return token if token.lastgroup == "text" else None

    def whole(self, at: int) -> Value:
        """Return a value, None if something is left of it, and within itself."""
        if at not in self._known:
            self._known[at] = None
            self._known[at] = self._whole(at)
        return self._known[at]

    def _whole(self, at: int) -> Value:
        self._depth += 1
        value, end = self._sum(at) if self._depth < MOST_NAMES else (None, at)
        self._depth -= 1
        if self._word(end) == "as":
            end += 2
        is_whole = end >= len(self.tokens) or (
            self._word(end) not in _OPERATORS and self.tokens[end].lastgroup != "text"
        )
        return value if is_whole else None

    def _sum(self, at: int) -> tuple[Value, int]:
        value, end = self._operand(at)
        while self._word(end) == "+":
            other, end = self._operand(end + 1)
            value = added(value, other)
        return value, end

    def _operand(self, at: int) -> tuple[Value, int]:
        """Return a value after its methods, and the place after them."""
        value, end = self._primary(at)
        while self._word(end) == "." and self._word(end + 2) == "(":
            after = self._after_bracket(end + 2)
            if self._word(end + 1) == "join":
                value = joined(value, self.whole(end + 3))
            elif self._word(end + 1) not in {"trim", "trimEnd", "toString"}:
                value = None
            end = after
        return value, end

    def _primary(self, at: int) -> tuple[Value, int]:
        word = self._word(at)
        kind = self.tokens[at].lastgroup if word else None
        if kind == "text":
            return self._filled(plain(word[1:-1], keep=False) or "", word), at + 1
        if kind == "number":
            return word, at + 1
        if word == "[":
            return [self.whole(part) for part in self._parts(at)], self._after_bracket(at)
        if word == "(":
            return self.whole(at + 1), self._after_bracket(at)
        return self._named_value(at)

    def _named_value(self, at: int) -> tuple[Value, int]:
        """Return the value of a constant or of a new QueryString, None for another name."""
        last, origin = self._last_of_path(at), self._constant(at)
        if self._word(last + 1) != "(":
            return (self.whole(origin) if origin != at else None), last + 1
        end = self._after_bracket(last + 1)
        return (
            query_string(self._properties(last + 2)) if self._is_query_string(at) else None
        ), end

    def _filled(self, text: str, literal: str) -> str | None:
        """Return a text with the constants that a template inserts."""
        if not literal.startswith("`"):
            return text
        return filled(_INSERTED_NAME, text, lambda match: self._inserted(match) or match[0])

    def _inserted(self, match: re.Match[str]) -> str | None:
        values = self._constants.get(match[1].rpartition(".")[2], [])
        value = self.whole(values[0]) if len(values) == 1 else None
        return value if isinstance(value, str) else None

    def _properties(self, at: int) -> dict[str, Value]:
        """Return the properties of an object; spread properties are computed."""
        if self._word(at) == ")":
            return {}
        if self._word(at) != "{":
            return {"fields": None}
        found: dict[str, Value] = {}
        for start in self._parts(at):
            name = self._word(start).strip("\"'")
            if self._word(start + 1) == ":":
                found[name] = self.whole(start + 2)
            else:
                found["fields" if name == "." else name] = self.whole(start)
        return found

    def _parts(self, at: int) -> Iterator[int]:
        """Yield the place of each part in brackets."""
        end = self._after_bracket(at) - 1
        at += 1
        while at < end:
            yield at
            while at < end and self._word(at) != ",":
                at = self._after_bracket(at) if self._word(at) in _OPENING else at + 1
            at += 1


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
