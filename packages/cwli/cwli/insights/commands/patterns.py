"""Commands ``pattern`` and ``diff``: texts with the same structure, in the manner of Drain.

AWS does not publish how Logs Insights finds patterns. Texts are taken by their counts, the most
frequent first, so that the clusters do not depend on the order of the events.

Sources: AWS documentation, CloudWatch Logs Insights query syntax: pattern, diff; P. He, J. Zhu,
Z. Zheng, M. R. Lyu, "Drain: an online log parsing approach with fixed depth tree", ICWS 2017.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count

from cwli import duckdb_core as duckdb
from cwli.insights.names import Names
from cwli.insights.parser import Reader
from cwli.insights.plan import PERIODS, Comparison, Step, columns_of
from cwli.insights.sql import Writer
from cwli.insights.syntax import (
    Call,
    Column,
    Command,
    Expression,
    Field,
    Number,
    Operation,
    QueryError,
    Span,
    Text,
)
from cwli.insights.tokens import Kind
from cwli.insights.values import Type, Value, quoted

_SEEN = {"Pattern", "Diff"}


@dataclass(frozen=True)
class Pattern(Command):
    """``pattern @message``: a row for each pattern, the most frequent first."""

    source: Expression

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Pattern:
        """Read the argument of ``pattern``."""
        source = reader.expression()
        return cls(reader.since(start), source)

    def resolve(self, names: Names) -> None:
        """Replace the rows by the patterns."""
        if _SEEN & set(names.seen):
            raise QueryError("a query takes only one pattern", self.span)
        names.warn(self.span, "pattern is an approximation; AWS does not publish its own")
        source = names.resolve(self.source)
        columns = (names.new_column() for _ in range(5))
        rows = _Clusters(names.comparisons, source, *columns)
        names.step(rows)
        fields = {
            "@pattern": rows.pattern,
            "@ratio": rows.ratio,
            "@sampleCount": rows.count,
            "@severityLabel": rows.label,
        }
        names.begin_results(fields, rows.order)
        names.sort(((rows.count, True),))


@dataclass(frozen=True)
class Diff(Command):
    """``diff previousDay``: the patterns, and how many more events have each than earlier."""

    period: str

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Diff:
        """Read the argument of ``diff``."""
        period = reader.one_of(*PERIODS) if reader.token.kind is Kind.NAME else ""
        return cls(reader.since(start), period)

    def resolve(self, names: Names) -> None:
        """Add the differences; without ``pattern``, find the patterns of the message first."""
        if not (_SEEN & set(names.seen) or names.before_stats):
            raise QueryError("diff must come before stats, or after pattern", self.span)
        if not _SEEN & set(names.seen):
            Pattern(self.span, Field(self.span, "@message")).resolve(names)
        rows = names.last_step()
        if not isinstance(rows, _Clusters) or names.comparisons:
            raise QueryError("diff must follow pattern, and only once", self.span)
        names.comparisons.append(Comparison(self.span, self.period))
        count, earlier = Column(self.span, rows.count), Column(self.span, rows.earlier)
        difference = names.column(Operation(self.span, (count, earlier), "-"))
        fields = {
            "@pattern": rows.pattern,
            "@sampleCount": rows.count,
            "@differenceEventCount": difference,
            "@differenceDescription": names.column(_description(self.span, count, earlier)),
            "@severityLabel": rows.label,
        }
        size = names.column(Call(self.span, (Column(self.span, difference),), "abs"))
        names.begin_results(fields, rows.order)
        names.sort(((size, True),))


def _description(span: Span, count: Column, earlier: Column) -> Expression:
    """Return the words for a change: new, gone, more, fewer, same."""
    none = Number(span, 0)
    cases = (
        (Operation(span, (earlier, none), "="), "new"),
        (Operation(span, (count, none), "="), "gone"),
        (Operation(span, (count, earlier), ">"), "more"),
        (Operation(span, (count, earlier), "<"), "fewer"),
    )
    branches = (part for condition, word in cases for part in (condition, Text(span, word)))
    return Call(span, (*branches, Text(span, "same")), "case")


@dataclass(frozen=True)
class _Clusters(Step):
    """A step that makes one row of all texts with the same structure, in five columns.

    ``comparisons`` has the comparison with an earlier time range, if a later ``diff`` adds one;
    ``earlier`` is the number of the events in that range.
    """

    selects = 9  # one for each replacement, three for the counts

    comparisons: list[Comparison]
    source: Expression
    pattern: str
    ratio: str
    count: str
    label: str
    earlier: str

    @property
    def order(self) -> tuple[tuple[str, bool], ...]:
        """The order of patterns with equal counts."""
        return (self.pattern, False), (self.label, False)

    @property
    def defines(self) -> frozenset[str]:
        return frozenset({self.pattern, self.ratio, self.count, self.label, self.earlier})

    @property
    def reads(self) -> frozenset[str]:
        return columns_of(self.source) | self._times

    @property
    def _times(self) -> frozenset[str]:
        return frozenset({"timestamp"} if self.comparisons else ())

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Count texts without their variables, and read the table of their patterns."""
        template = writer.text_column(self.source, self._times)
        for replace in _REPLACEMENTS:
            text = Value(replace(template), Type.TEXT)
            template = writer.temporary()
            writer.define(self._times, {template: text})
        numbers = {writer.temporary(): Value(sql, Type.NUMBER) for sql in self._counts()}
        writer.group(frozenset({template}), numbers, f"GROUP BY {template}")
        writer.define(frozenset({template, *numbers}), {}, f"WHERE {template} IS NOT NULL")
        writer.cluster(", ".join((template, *numbers)))
        columns = {
            self.pattern: Value("pattern", Type.TEXT),
            self.ratio: Value("n / sum(n) OVER ()", Type.NUMBER),
            self.count: Value("n", Type.NUMBER),
            self.label: Value("label", Type.TEXT),
            self.earlier: Value("earlier", Type.NUMBER),
        }
        writer.define(frozenset(), columns)

    def _counts(self) -> tuple[str, str]:
        """Return SQL for the number of events in the time range of the query, and earlier."""
        if not self.comparisons:
            return "count(*)", "0"
        now = "count(*) FILTER (WHERE timestamp >= getvariable('first_ms'))"
        return now, f"count(*) - {now}"


# Code points that no text has (Unicode, section 23.7: noncharacters) stand for variables.
_TIME, _ID, _ADDRESS, _NUMBER, _WORD = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4"
_NAMES = {_TIME: "Time", _ID: "ID", _ADDRESS: "IPAddress", _NUMBER: "Number"}
# A word that the texts of a cluster do not share.
_VARIED = "Token"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_ZONE = r"(?:Z\b| ?[+-]\d\d:?\d\d\b)?"
# Regular expressions of RE2, in the order of their replacement.
_VARIABLE = {
    _TIME: (
        rf"\b\d{{4}}[-/]\d\d[-/]\d\d(?:[T ]{_CLOCK}{_ZONE})?"
        rf"|\b\d\d/{_MONTH}/\d{{4}}:{_CLOCK}{_ZONE}"
        rf"|\b{_MONTH} [ \d]\d {_CLOCK}|\b\d\d {_MONTH} \d{{4}} {_CLOCK}|\b{_CLOCK}"
    ),
    _ADDRESS: r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b",
    _ID: (
        r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b|\b0x[0-9A-Fa-f]+\b"
        r"|\b(?:[A-Za-z]+\d|\d+[A-Za-z])[0-9A-Za-z-]{6,}\b|\b\d{5,}-[0-9A-Za-z-]{3,}\b"
    ),
    _NUMBER: r"\b\d+(?:\.\d+)*(?:[eE][+-]?\d+)?",
}
# No word follows, which a mark would part from the time.
_FIRST_TIME = (
    rf"^(?:\d{{4}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}{_ZONE}|{_MONTH} [ \d]\d {_CLOCK}|{_CLOCK})"
    r"([^\w.,]|$)"
)
_NEEDED = {
    _TIME: ("%:__:%", "%-__-__%", "%/__/__%", "%-__/__%", "%/__-__%"),
    _ADDRESS: ("%.%.%.%", "%:%:%:%:%:%:%:%"),
}
"""Patterns of LIKE: each text with such a variable fits one, and most other texts fit none."""
_WORDS = re.compile(r"\w+")
_MARKS = f"{''.join(_NAMES)}{_WORD}"
_REPLACEMENT = "\ufffd"
_MARK = re.compile(f"[{_MARKS}]")
_LEVELS = {
    **dict.fromkeys(("fatal", "critical", "crit", "severe", "error", "err"), "Error"),
    **dict.fromkeys(("warning", "warn"), "Warning"),
    **dict.fromkeys(("info", "notice"), "Info"),
    **dict.fromkeys(("debug", "trace"), "Debug"),
}
# The clusters of the same structure that a text is compared with: few, so that texts of random
# words take no quadratic time.
_MOST_COMPARED = 100


def _without_marks(text: str) -> str:
    """Return SQL for a text without the code points of variables, which programs may log, too.

    Such a mark would stand for no word of the text.
    """
    # Few texts have more bytes than characters, and DuckDB's translate takes as long as the rest.
    marked = f"strlen({text}) > length({text}) AND regexp_matches({text}, '[{_MARKS}]')"
    clean = f"translate({text}, {quoted(_MARKS)}, {quoted(len(_MARKS) * _REPLACEMENT)})"
    return f"CASE WHEN {marked} THEN {clean} ELSE {text} END"


def _without_first_time(text: str) -> str:
    """Return SQL for a text with a mark in place of a time at its beginning.

    Many lines begin with their only time, and a search for others takes three times as long.
    """
    return f"regexp_replace({text}, {quoted(_FIRST_TIME)}, '{_TIME}\\1')"


def _without(mark: str, text: str) -> str:
    """Return SQL for a text with a mark in place of each variable of its kind."""
    replaced = f"regexp_replace({text}, {quoted(_VARIABLE[mark])}, '{mark}', 'g')"
    if mark not in _NEEDED:
        return replaced
    may_hold = " OR ".join(f"{text} LIKE {quoted(each)}" for each in _NEEDED[mark])
    return f"CASE WHEN {may_hold} THEN {replaced} ELSE {text} END"


_REPLACEMENTS: tuple[Callable[[str], str], ...] = (
    _without_marks,
    _without_first_time,
    *(partial(_without, mark) for mark in _VARIABLE),
)
"""SQL for a text, with a code point in place of the times, addresses, ids and numbers in turn."""


def create_patterns(connection: duckdb.DuckDBPyConnection, templates: str) -> None:
    """Create the table ``patterns`` of the clusters of texts.

    Its columns are ``pattern``, ``label``, the level of the pattern or null, and ``n`` and
    ``earlier``, the counts of its events now and earlier.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        A connection to DuckDB.
    templates : str
        The SELECT of the texts and their two counts.
    """
    rows = [
        {
            "pattern": cluster.pattern(),
            "label": cluster.label,
            "n": cluster.count,
            "earlier": cluster.earlier,
        }
        for cluster in _clusters(connection.execute(templates).fetchall())
    ]
    columns = '[{"pattern": "VARCHAR", "label": "VARCHAR", "n": "DOUBLE", "earlier": "DOUBLE"}]'
    table = f"from_json({quoted(json.dumps(rows))}, {quoted(columns)})"
    connection.execute(f"CREATE TEMP TABLE patterns AS SELECT unnest({table}, recursive := TRUE)")


@dataclass
class _Cluster:
    """Texts with the same structure, the characters between words; and the words they share."""

    structure: str
    label: str | None
    words: list[str]
    count: int = 0
    earlier: int = 0

    def resembles(self, words: list[str]) -> bool:
        """Tell whether a text shares more than half of its words with the cluster."""
        return 2 * sum(map(str.__eq__, self.words, words)) > len(words) or self.words == words

    def add(self, words: list[str], count: int, earlier: int) -> None:
        """Add texts with their counts; a word in which they differ becomes a mark."""
        pairs = zip(self.words, words, strict=True)
        self.words = [one if one == other else _WORD for one, other in pairs]
        self.count += count
        self.earlier += earlier

    def pattern(self) -> str:
        """Return the words that all texts share, and numbered names for variables."""
        words, numbers = iter(self.words), count(1)

        def part(mark: re.Match[str]) -> str:
            word = next(words) if mark[0] == _WORD else mark[0]
            name = _VARIED if word == _WORD else _NAMES.get(word)
            return f"<{name}-{next(numbers)}>" if name else word

        return _MARK.sub(part, self.structure)


def _clusters(templates: Iterable[tuple[str, int, int]]) -> Iterator[_Cluster]:
    """Yield the clusters of texts with counts.

    Texts may be in one cluster if they have the same structure, level and first word; words with
    digits and levels do not count as the first.
    """
    alike: dict[tuple[str, str | None, str], list[_Cluster]] = {}
    for text, *counts in sorted(templates, key=lambda each: (-each[1] - each[2], each[0])):
        words = _WORDS.findall(text)
        structure, label = _WORDS.sub(_WORD, text), _label(words)
        clusters = alike.setdefault((structure, label, _first(words)), [])
        nearest = (each for each in clusters[:_MOST_COMPARED] if each.resembles(words))
        cluster = next(nearest, None)
        if cluster is None:
            cluster = _Cluster(structure, label, words)
            clusters.append(cluster)
        cluster.add(words, *counts)
    for clusters in alike.values():
        yield from clusters


def _label(words: list[str]) -> str | None:
    return next((_LEVELS[word.lower()] for word in words if word.lower() in _LEVELS), None)


def _first(words: list[str]) -> str:
    plain = (word for word in words if word.isalpha() and word.lower() not in _LEVELS)
    return next(plain, "")
