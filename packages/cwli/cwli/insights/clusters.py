"""Clusters of texts with the same structure, in the manner of Drain.

Source: P. He, J. Zhu, Z. Zheng, M. R. Lyu, "Drain: an online log parsing approach with fixed depth
tree", ICWS 2017. Texts are taken by their counts, the most frequent first, so that the clusters do
not depend on the order of the events. AWS does not publish how Logs Insights finds patterns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from cwli import duckdb_core as duckdb
from cwli.insights.values import quoted

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
# A text is compared with so many clusters of the same structure, so that texts of random words
# take no quadratic time.
_MOST_COMPARED = 100


def without_variables(text: str) -> str:
    """Return SQL for a text with a code point in place of each time, id, address and number."""
    # Programs may log noncharacters all the same: such a mark would stand for no word of the text.
    text = f"translate({text}, {quoted(_MARKS)}, {quoted(len(_MARKS) * _REPLACEMENT)})"
    for mark, pattern in _VARIABLE.items():
        text = f"regexp_replace({text}, {quoted(pattern)}, '{mark}', 'g')"
    return text


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
