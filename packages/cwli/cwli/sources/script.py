"""Queries in CDK apps of TypeScript and JavaScript: in objects, as far as they are literal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cwli.sources.written import (
    MOST_NAMES,
    Value,
    Written,
    added,
    filled,
    joined,
    plain,
    query_of,
    query_string,
)

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<text>`(?:[^`\\]|\\.)*`|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<name>[A-Za-z_$][\w$]*)|(?P<number>\d[\d_]*)|(?P<sign>=>|[=!]==?|.)",
    re.DOTALL,
)
_INSERTED = re.compile(r"\$\{\s*([\w.$]+)\s*\}")
_DECLARING = {"const", "let", "var", "readonly", "static"}
_OPERATORS = set("+-*/%?.[(&|<>=")
_OPENING, _CLOSING = {"(", "[", "{"}, {")", "]", "}"}
_WITH_QUERY = {"CfnQueryDefinition", "QueryDefinition", "LogQueryWidget"}


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
        return filled(_INSERTED, text, lambda match: self._inserted(match) or match[0])

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
