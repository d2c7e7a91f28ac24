"""Command ``parse``: fields from text, by a glob, a regular expression or a format."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cwli.insights.names import Names
from cwli.insights.parser import Reader
from cwli.insights.plan import Definition, Extend, Step, columns_of
from cwli.insights.regexes import Gaps, Pattern
from cwli.insights.sql import Writer, texts
from cwli.insights.syntax import (
    Column,
    Command,
    Expression,
    Field,
    Missing,
    QueryError,
    Regex,
    Span,
    Text,
)
from cwli.insights.templates import Capture, Template, UncertainError
from cwli.insights.tokens import Kind
from cwli.insights.values import Type, Value, quoted

_PAIR = r'([^\s="]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))'
# RE2 captures at most four groups in one pass (its source, onepass.cc: kMaxOnePassCapture); a fifth
# takes three times as long as the four.
_MOST_GROUPS = 4
_FIELD = "g"
_CELL = r',("(?:[^"]|"")*"|[^,]*)'


def read_parse(reader: Reader, start: Span) -> Command:
    """Read the arguments of ``parse``: a source, by default the message, and a pattern."""
    source: Expression = Field(start, "@message")
    if reader.token.kind is not Kind.TEXT and not reader.at("/"):
        # An operand, not an expression: a slash begins the pattern here.
        source = reader.operand()
    if reader.token.kind is Kind.TEXT:
        return ParseGlob.read(reader, start, source)
    if reader.at("/"):
        return ParseRegex.read(reader, start, source)
    if reader.at_word("logfmt", "csv"):
        return ParseFormat.read(reader, start, source)
    raise reader.expected("a glob in quotes or a /regular expression/ (parse)")


@dataclass(frozen=True)
class ParseGlob(Command):
    """``parse source "a * b" as name``, with one name for each star."""

    source: Expression
    glob: Text
    names: tuple[str, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span, source: Expression) -> ParseGlob:
        """Read the glob and its names."""
        glob = reader.text()
        stars = glob.value.count("*")
        has_names = reader.take_word("as")
        if stars and not has_names:
            raise reader.expected("'as' and a name for each * of the glob")
        names = _names(reader) if has_names else ()
        if stars and stars != len(names):
            raise QueryError(
                f"the glob has {stars} *, but {len(names)} names follow 'as'; "
                "each * takes one name",
                glob.span,
            )
        return cls(reader.since(start), source, glob, names)

    def resolve(self, names: Names) -> None:
        """Add the captures of the stars; a glob without a star captures nothing."""
        source = names.resolve(self.source)
        columns = names.define_captures(self.names)
        if "*" not in self.glob.value:
            names.warn(self.glob.span, "this glob has no *, so it captures nothing; write 'a * b'")
            names.step(Extend(dict.fromkeys(columns, Missing(self.glob.span))))
            return
        captures = {column: index for index, column in enumerate(columns)}
        names.step(_Glob(captures, source, tuple(self.glob.value.split("*"))))


@dataclass(frozen=True)
class ParseRegex(Command):
    """``parse source /a (?<name>.) b/``, ``parse source /a (.) b/ as name multi``.

    With ``multi`` every match makes a row, otherwise only the first match counts.
    """

    source: Expression
    regex: Regex
    names: tuple[str, ...]
    multi: bool

    @classmethod
    def read(cls, reader: Reader, start: Span, source: Expression) -> ParseRegex:
        """Read the regular expression, the names of its groups if they follow, and ``multi``."""
        regex = reader.regex()
        names: tuple[str, ...] = ()
        if reader.take_word("as"):
            names = _names(reader)
        multi = reader.take_word("multi")
        return cls(reader.since(start), source, regex, names, multi)

    def resolve(self, names: Names) -> None:
        """Add the captures of the named groups."""
        source = names.resolve(self.source)
        pattern = names.pattern(self.regex, self.names)
        if not pattern.names:
            raise QueryError(
                "this regular expression has no named group: (?<name>…)", self.regex.span
            )
        columns = names.define_captures(pattern.names)
        captures = dict(zip(columns, pattern.names, strict=True))
        if self.multi:
            place = names.new_column()
            names.step(_MatchEach(captures, source, pattern, place))
            names.put_after(place)
        else:
            names.step(_Match(captures, source, pattern))


@dataclass(frozen=True)
class ParseFormat(Command):
    """``parse source logfmt as map``, ``parse source csv as a, b``."""

    source: Expression
    format: str
    names: tuple[str, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span, source: Expression) -> ParseFormat:
        """Read the format and the names."""
        word = reader.name()
        reader.need_word("as")
        names = _names(reader)
        format_ = word.value.lower()
        if format_ == "logfmt" and len(names) != 1:
            raise QueryError("logfmt takes one name, the name of a map", word.span)
        return cls(reader.since(start), source, format_, names)

    def resolve(self, names: Names) -> None:
        """Add the map, or the columns."""
        source = names.resolve(self.source)
        columns = names.define_captures(self.names)
        if self.format == "logfmt":
            names.step(_Logfmt({columns[0]: None}, source))
        else:
            names.step(_Csv({column: place for place, column in enumerate(columns, 1)}, source))


def _names(reader: Reader) -> tuple[str, ...]:
    return tuple(name.value for name in reader.list_of(reader.name))


@dataclass(frozen=True)
class _Extraction(Definition):
    """A step that reads columns from a text."""

    source: Expression

    @property
    def reads(self) -> frozenset[str]:
        return columns_of(self.source)


@dataclass(frozen=True)
class _Logfmt(_Extraction):
    """A step that reads ``a=1 b="two words"`` as a map."""

    selects = 2  # one for the source, one for the map

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write the pairs as JSON."""
        source = writer.text_column(self.source, kept)
        pairs = f"regexp_extract_all({source}, {quoted(_PAIR)})"
        key = f"CAST(to_json(regexp_extract(p, {quoted(_PAIR)}, 1)) AS VARCHAR)"
        plain = f"CAST(to_json(regexp_extract(p, {quoted(_PAIR)}, 3)) AS VARCHAR)"
        inner = f"regexp_extract(p, {quoted(_PAIR)}, 2)"
        unescaped = f"regexp_replace({inner}, '\\\\(.)', '\\1', 'g')"
        quotes = f"CAST(to_json({unescaped}) AS VARCHAR)"
        value = f"CASE WHEN contains(p, '=\"') THEN {quotes} ELSE {plain} END"
        items = f"list_transform({pairs}, lambda p: {key} || ':' || {value})"
        map_ = f"CASE WHEN len({pairs}) > 0 THEN '{{' || array_to_string({items}, ',') || '}}' END"
        writer.define(kept, {column: Value(map_, Type.STRUCTURE) for column in self.columns})


@dataclass(frozen=True)
class _Csv(_Extraction):
    """A step that reads values between commas, perhaps in double quotes, by place from 1."""

    columns: Mapping[str, int]

    selects = 3  # one for the source, one for the values, one for the columns

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Split at each comma that is not in quotes."""
        source = writer.text_column(self.source, kept)
        cells = writer.temporary()
        matches = f"regexp_extract_all(',' || {source}, {quoted(_CELL)}, 1)"
        writer.define(kept, {cells: Value(matches, Type.TEXT)})
        values = {}
        for column, place in self.columns.items():
            cell = f"{cells}[{place}]"
            inner = f"replace({cell}[2:-2], '\"\"', '\"')"
            values[column] = f"CASE WHEN starts_with({cell}, '\"') THEN {inner} ELSE {cell} END"
        writer.define(kept, texts(values))


@dataclass(frozen=True)
class _Glob(_Extraction):
    """A step that finds literals in turn; column *n* is the text between literals *n* and *n*+1."""

    columns: Mapping[str, int]
    literals: tuple[str, ...]

    @property
    def selects(self) -> int:
        """One select for the source, one for each literal, one for the captures."""
        return len(self.literals) + 2

    def for_template(self, template: Template) -> tuple[Step, ...]:
        """Take the captures from the template and its variables, if their places are certain."""
        if not (isinstance(self.source, Column) and self.source.column == "message"):
            return (self,)
        try:
            captures = template.captures(self.literals)
        except UncertainError:
            return (self,)
        return (_Parts({column: captures[index] for column, index in self.columns.items()}),)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a split for a single simple capture, a search for any others."""
        source = writer.text_column(self.source, kept)
        if self._can_split():
            self._write_split(writer, kept, source)
        else:
            self.write_search(writer, kept, source)

    def _can_split(self) -> bool:
        """Tell whether the query needs one capture, between two literals that fit in a LIKE."""
        index = min(self.columns.values())
        ends = self.literals[index : index + 2]
        plain = not any(sign in literal for literal in self.literals for sign in "%_")
        return len(self.columns) == 1 and all(ends) and plain

    def _write_split(self, writer: Writer, kept: frozenset[str], source: str) -> None:
        """Split at the literal before the capture where its first place is the right one.

        The first place is right if the text before it matches the glob up to there. The other
        sources need the regular expression, which is several times as slow.
        """
        ((column, index),) = self.columns.items()
        whole, end = self.literals[index : index + 2]
        # DuckDB searches a text by its first byte, and no byte is as frequent as a blank. The
        # search without leading blanks is faster; the text before the word must end in them.
        word = whole.lstrip(" ") or whole
        parts, before, rest, place = (writer.temporary() for _ in range(4))
        writer.define(kept | {source}, texts({parts: _split(source, word)}))
        split = texts({before: f"{parts}[1]", rest: f"{parts}[2]"})
        end_place = Value(_place(f"{parts}[2]", end), Type.NUMBER)
        writer.define(kept | {source}, {**split, place: end_place})
        when = self._when(index, source, before, rest, place, whole.removesuffix(word))
        capture = f"regexp_extract({source}, {quoted(self._regex(index))}, 1)"
        if word != whole:  # The word may be the end of another one: " at " and "that ".
            when_whole = self._when(index, source, "p[1]", "p[2]", _place("p[2]", end))
            case = f"CASE {when_whole} ELSE {capture} END"
            capture = f"list_transform([{_split(source, whole)}], lambda p: {case})[1]"
        # A source without the word is not searched again.
        matches = f"{rest} IS NOT NULL AND {source} LIKE {_like(self.literals)}"
        writer.define(kept, texts({column: f"CASE {when} WHEN {matches} THEN {capture} END"}))

    def _when(
        self, index: int, source: str, before: str, rest: str, place: str, blanks: str = ""
    ) -> str:
        """Return the WHEN clause that takes the capture from a source split at the right place."""
        like = "%".join(("", *self.literals[:index], blanks))
        matches = f"{before} LIKE {quoted(like)} AND {place} > 0"
        if index + 2 < len(self.literals):
            matches += f" AND {source} LIKE {_like(self.literals)}"
        return f"WHEN {matches} THEN {_before(rest, place)}"

    def _regex(self, index: int) -> str:
        """Return the regular expression with a capture as group 1."""
        escaped = [re.escape(literal) for literal in self.literals]
        before, after = ".*?".join(escaped[: index + 1]), ".*?".join(escaped[index + 1 :])
        return f"(?s){before}(.*?){after}"

    def write_search(self, writer: Writer, kept: frozenset[str], source: str) -> None:
        """Find each literal in the text after the literal before it.

        The lazy regular expression has the same captures: a literal that is absent after the
        leftmost places of the literals before it is absent after any later places, too.
        """
        rest = source
        live = set(self.columns.values())
        needed = kept
        last = len(self.literals) - 1
        spans: list[tuple[str, str | None]] = []
        for index, part in enumerate(self.literals):
            place, after = None, rest
            if part or 0 < index < last:
                place, after = writer.temporary(), writer.temporary()
                at = f"nullif({_place(rest, part)}, 0)"
                values = {
                    place: Value(at, Type.NUMBER),
                    after: Value(f"substring({rest}, {at} + {len(part)})", Type.TEXT),
                }
                writer.define(needed | {rest}, values)
            spans.append((rest, place))
            if index - 1 in live:
                needed |= {rest, place} if place else {rest}
            rest = after
        matches = f"{spans[-1][1] or rest} IS NOT NULL"
        captures = {
            column: f"CASE WHEN {matches} THEN {_before(*spans[index + 1])} END"
            for column, index in self.columns.items()
        }
        writer.define(kept, texts(captures))


@dataclass(frozen=True)
class _Parts(Definition):
    """A step that takes columns from the variables of a template."""

    columns: Mapping[str, Capture]

    @property
    def reads(self) -> frozenset[str]:
        return frozenset[str]().union(*(part.reads for part in self.columns.values()))

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write one select."""
        writer.define(kept, texts({column: part.sql for column, part in self.columns.items()}))


@dataclass(frozen=True)
class _Match(_Extraction):
    """A step that matches a regular expression; a column holds the capture of a named group."""

    columns: Mapping[str, str]
    pattern: Pattern

    @property
    def selects(self) -> int:
        """One select for the source, three for gaps, one for the captures."""
        return 5 if self.pattern.gaps else 2

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Extract each group from the matching sources."""
        source = writer.text_column(self.source, kept)
        captures = {
            column: _capture(self.pattern, name, source) for column, name in self.columns.items()
        }
        if self.pattern.gaps:
            captures = self._at_text(writer, kept | {source}, source, self.pattern.gaps, captures)
        values = {
            column: Value(sql, Type.TEXT, digits=self.pattern.is_digits(self.columns[column]))
            for column, sql in captures.items()
        }
        writer.define(kept, values)

    def _at_text(
        self,
        writer: Writer,
        kept: frozenset[str],
        source: str,
        gaps: Gaps,
        captures: Mapping[str, str],
    ) -> dict[str, str]:
        """Match where the first of the texts around the gaps is, and return the captures.

        A match anywhere takes five times as long. It is needed only where there is none at the
        first place of that text, since there may be one at a later place.
        """
        rest, later = source, ""
        if not gaps.is_anchored:
            parts, rest = writer.temporary(), writer.temporary()
            writer.define(kept, texts({parts: _split(source, gaps.texts[0])}))
            writer.define(kept | {parts}, texts({rest: _after_first(source, gaps.texts[0], parts)}))
            later = f"WHEN {rest} IS NOT NULL THEN {{}} "
        matches, found = self._captured(writer, kept | {rest}, rest, gaps)
        return {
            column: f"CASE WHEN {matches} THEN {found[name]} {later.format(captures[column])}END"
            for column, name in self.columns.items()
        }

    def _captured(
        self, writer: Writer, kept: frozenset[str], rest: str, gaps: Gaps
    ) -> tuple[str, dict[str, str]]:
        """Return SQL that is true if a text matches at its beginning, and the captures then."""
        indices = {name: self.pattern.gap_of(name, gaps) for name in self.columns.values()}
        captured = sorted(set(indices.values()))
        found = {}
        if gaps.may_search_first and captured[0] == 0 and len(captured) % _MOST_GROUPS == 1:
            found[captured.pop(0)] = _first_gap(rest, gaps)
        columns = {}
        for first in range(0, len(captured), _MOST_GROUPS):
            part, column = captured[first : first + _MOST_GROUPS], writer.temporary()
            columns[column] = _extraction(rest, gaps, part)
            found |= {index: f"{column}.{_FIELD}{index}" for index in part}
        writer.define(kept, texts(columns))
        # Without a match each group is ''.
        sure = [found[index] for index in captured if not re.match(gaps.gaps[index], "")]
        whole = f"regexp_matches({rest}, {quoted(gaps.regex())})"
        matches = f"{sure[0]} <> ''" if sure else whole
        return matches, {name: found[index] for name, index in indices.items()}


@dataclass(frozen=True)
class _MatchEach(_Match):
    """A step that makes a row of each match of a regular expression.

    A row without a match stays one row. ``place`` numbers the matches.
    """

    per_event = False

    place: str

    @property
    def defines(self) -> frozenset[str]:
        return frozenset((*self.columns, self.place))

    def narrow(self, live: frozenset[str]) -> _MatchEach:
        """Return the step itself: it makes rows even if no later step needs its columns."""
        return self

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Extract each group of every match, side by side."""
        source = writer.text_column(self.source, kept)
        matches = f"regexp_matches({source}, {quoted(self.pattern.matching())})"
        captures = {}
        for column, name in self.columns.items():
            group = f"regexp_extract_all({source}, {quoted(self.pattern.capturing(name))}, 1)"
            present = f"list_transform({group}, lambda v: nullif(v, {_absent(self.pattern, name)}))"
            captures[column] = f"unnest(CASE WHEN {matches} THEN {present} ELSE [NULL] END)"
        every = f"regexp_extract_all({source}, {quoted(self.pattern.matching())})"
        place = f"generate_subscripts(CASE WHEN {matches} THEN {every} ELSE [NULL] END, 1)"
        writer.define(kept, {**texts(captures), self.place: Value(place, Type.NUMBER)})


def _split(source: str, literal: str) -> str:
    return f"string_split({source}, {quoted(literal)})"


def _place(rest: str, literal: str) -> str:
    """Return the place of a literal in a text, from 1, or 0 if the literal is absent."""
    return f"strpos({rest}, {quoted(literal)})"


def _like(literals: tuple[str, ...]) -> str:
    """Return the LIKE pattern of a text with literals one after another."""
    return quoted("%".join(("", *literals, "")))


def _after_first(source: str, literal: str, parts: str) -> str:
    """Return SQL for the text after the first place of a literal, null without one.

    A split at the literal tells it at a third of the cost, if there is only one place.
    """
    after = f"substring({source}, {_place(source, literal)} + {len(literal)})"
    return f"CASE WHEN len({parts}) > 2 THEN {after} ELSE {parts}[2] END"


def _extraction(rest: str, gaps: Gaps, captured: Sequence[int]) -> str:
    """Return SQL for some gaps of a text, as a structure."""
    fields = ", ".join(quoted(f"{_FIELD}{index}") for index in captured)
    return f"regexp_extract({rest}, {quoted(gaps.regex(captured))}, [{fields}])"


def _first_gap(rest: str, gaps: Gaps) -> str:
    """Return SQL for the first gap of a text that matches at its beginning."""
    first = len(gaps.begin) + 1
    return f"substring({rest}, {first}, {_place(rest, gaps.texts[1])} - {first})"


def _before(rest: str, place: str | None) -> str:
    """Return the text before a place, or the whole text without a place."""
    return rest if place is None else f"left({rest}, {place} - 1)"


def _capture(pattern: Pattern, name: str, source: str) -> str:
    """Return the capture of a group, null if the pattern does not match.

    RE2 gives '' also if nothing matched or the group took no part in the match. If the pattern
    inside the group cannot match '', then '' has that meaning and becomes null. DuckDB decides that
    once.
    """
    capture = f"regexp_extract({source}, {quoted(pattern.capturing(name))}, 1)"
    matches = f"regexp_matches({source}, {quoted(pattern.matching())})"
    never_empty = f"NOT {_may_be_empty(pattern, name)}"
    return f"CASE WHEN {never_empty} THEN nullif({capture}, '') WHEN {matches} THEN {capture} END"


def _may_be_empty(pattern: Pattern, name: str) -> str:
    return f"regexp_matches('', {quoted(f'^(?:{pattern.inside(name)})$')})"


def _absent(pattern: Pattern, name: str) -> str:
    """Return '' if it means that the group took no part, null if the group may match ''."""
    return f"CASE WHEN NOT {_may_be_empty(pattern, name)} THEN '' END"
