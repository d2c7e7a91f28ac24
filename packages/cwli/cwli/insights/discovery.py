r"""Fields that Logs Insights finds in messages by itself.

Source: AWS documentation, CloudWatch Logs: supported logs and discovered fields. JSON, as a whole
message or in a line of text, gives ``a.b.0``. Lambda reports give ``@duration`` and others. VPC
flow logs and Route 53 query logs give the names of their columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from cwli.insights.plan import Definition
from cwli.insights.values import Type, Value, quoted

if TYPE_CHECKING:
    from cwli.insights.sql import Writer

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_REPORT = "starts_with(message, 'REPORT RequestId: ')"
_LAMBDA_TEXTS = {
    "@type": r"^(START|END|REPORT|INIT_START|INIT_REPORT|EXTENSION|TELEMETRY)\b",
    "@requestId": rf"(?:\bRequestId: |\t|^\S+Z )({_UUID})\b",
    "@xrayTraceId": r"\bXRAY TraceId: (\S+)",
    "@xraySegmentId": r"\bSegmentId: (\S+)",
}
# Times are in milliseconds. Sizes are in bytes: AWS's samples divide by a million for megabytes.
_LAMBDA_NUMBERS = {
    "@duration": (r"\sDuration: ([0-9.]+) ms", 1),
    "@billedDuration": (r"\sBilled Duration: ([0-9.]+) ms", 1),
    "@initDuration": (r"\sInit Duration: ([0-9.]+) ms", 1),
    "@memorySize": (r"\sMemory Size: ([0-9]+) MB", 1_000_000),
    "@maxMemoryUsed": (r"\sMax Memory Used: ([0-9]+) MB", 1_000_000),
}
_COLUMNS = {
    # An account and a network interface mark a VPC flow log of the default format.
    "^[0-9]+ (?:[0-9]{12}|unknown) eni-": (
        "version accountId interfaceId srcAddr dstAddr srcPort dstPort protocol packets bytes "
        "startTime endTime action logStatus"
    ),
    # A version and a time mark a Route 53 query log.
    r"^[0-9]\.[0-9] [0-9]{4}-[0-9]{2}-[0-9]{2}T\S+ Z": (
        "version queryTimestamp hostZoneId queryName queryType responseCode protocol edgeLocation "
        "resolverIp"
    ),
}
# A JSON key may contain dots. In names with more dots than this, either all dots or none nest.
_MOST_DOTS = 3
_KEY = re.compile("`([^`]*)`|([^.`]+)")
# A line of text with deeper JSON has its fields only if no other braces stand in it. 100 levels
# take every query of JSON fields 4 ms.
_MOST_LEVELS = 100
_NOTHING = "CAST(NULL AS VARCHAR)"
# For this many fields or more, one pass over the JSON is faster.
_ONE_PASS = 3


def is_discovered(name: str) -> bool:
    """Tell whether messages may hold a field of this name."""
    of_lambda = name in _LAMBDA_TEXTS or name in _LAMBDA_NUMBERS
    return of_lambda or not name.startswith("@") or name.startswith("@@")


@dataclass(frozen=True)
class Discover(Definition):
    """A step that takes fields from the message; ``columns`` holds the field of each column."""

    columns: Mapping[str, str]

    selects = 4  # one for the JSON, two for its values, one for the columns

    @property
    def reads(self) -> frozenset[str]:
        """The message."""
        return frozenset({"message"})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write selects that find the JSON, extract its values and make fields of them."""
        available = kept | {"message"}
        keyed = {name: json_paths(key) for name in self.columns.values() if (key := _key(name))}
        raw = {name: writer.temporary() for name in keyed}
        document = writer.temporary()
        if keyed:
            writer.define(available, {document: _json_of_message()})
            available |= {document}
            if len(keyed) < _ONE_PASS:
                values = {raw[name]: _first_of(document, paths) for name, paths in keyed.items()}
            else:
                values = _first_of_each(writer, available, document, raw, keyed)
            writer.define(available, values)
        writer.define(
            kept,
            {
                column: _field(
                    name, [_scalar(document, keyed[name], raw[name])] if name in keyed else []
                )
                for column, name in self.columns.items()
            },
        )


def _key(name: str) -> str:
    """Return the JSON key of a field name, '' if it has none; @@a names the key @a."""
    if name.startswith("@"):
        return name[1:] if name.startswith("@@") else ""
    return name


def json_paths(name: str) -> list[str]:
    """Return the JSON pointers that a dotted name may mean, the most nested first.

    Pointers with keys that the name has in backticks come before the others.
    """
    escaped = name.replace("~", "~0").replace("/", "~1")
    paths = _pointers(escaped.replace("`", "").split("."))
    if "`" in name:
        keys = (key or part for key, part in _KEY.findall(escaped))
        paths = list(dict.fromkeys((*_pointers(list(keys)), *paths)))
    return paths


def _pointers(parts: list[str]) -> list[str]:
    if len(parts) > _MOST_DOTS + 1:
        return [f"/{'/'.join(parts)}", f"/{'.'.join(parts)}"]
    return [
        "/" + parts[0] + "".join(map("".join, zip(separators, parts[1:], strict=True)))
        for separators in product("/.", repeat=len(parts) - 1)
    ]


def attribute(column: Value, path: str) -> Value:
    """Return the value at a path of a column that may hold JSON."""
    if column.type not in (Type.TEXT, Type.STRUCTURE):
        return Value("CAST(NULL AS VARCHAR)", Type.TEXT)
    is_json = column.type is Type.STRUCTURE
    valid = str(column) if is_json else f"CASE WHEN json_valid({column}) THEN {column} END"
    paths = json_paths(path)
    return Value(_scalar(valid, paths, f"({_first_of(valid, paths)})"), Type.TEXT)


def _json_of_message() -> Value:
    """Return the message if it looks like JSON, else the first JSON in a line of text.

    Only JSON from a line of text is checked; a message that looks like JSON may be invalid.
    """
    widest = r"regexp_extract(message, '(?s)\{.*\}')"
    balanced = f"regexp_extract_all(message, {quoted(_balanced())})"
    # Most lines of text have one JSON, and reading it is faster than looking for braces in pairs.
    first = f"list_filter({balanced}, lambda j: json_valid(j))[1]"
    fragment = f"CASE WHEN json_valid({widest}) THEN {widest} ELSE {first} END"
    several = "contains(message, '} ') OR contains(message, '}{')"
    return Value(
        f"CASE WHEN message LIKE '{{%}}' AND NOT ({several}) THEN message "
        f"WHEN contains(message, '{{') THEN {fragment} END",
        Type.TEXT,
    )


def _balanced() -> str:
    """Return the regular expression of a text in balanced braces; RE2 has no recursion."""
    inside = r'[^{}"]|"(?:[^"\\]|\\.)*"'
    pattern = rf"\{{(?:{inside})*\}}"
    for _ in range(_MOST_LEVELS - 1):
        pattern = rf"\{{(?:{inside}|{pattern})*\}}"
    return f"(?s){pattern}"


def _first_of(document: str, paths: list[str]) -> Value:
    """Return the text at the first path that exists; later paths are read only if needed."""
    # TRY costs nothing unless a text looks like JSON but is invalid; a check of each message
    # would parse it twice.
    candidates = (f"TRY(json_extract_string({document}, {quoted(path)}))" for path in paths)
    return Value(f"coalesce({', '.join(candidates)}, NULL)", Type.TEXT)


def _first_of_each(
    writer: Writer,
    available: frozenset[str],
    document: str,
    columns: Mapping[str, str],
    keyed: Mapping[str, list[str]],
) -> dict[str, Value]:
    """Return the same for many fields with one parse; for few fields a list is slower."""
    every = [path for paths in keyed.values() for path in paths]
    pointers = ", ".join(map(quoted, every))
    values = writer.temporary()
    extraction = f"TRY(json_extract_string({document}, [{pointers}]))"
    writer.define(available, {values: Value(extraction, Type.TEXT)})
    places = iter(range(1, len(every) + 1))
    return {
        columns[name]: Value(
            f"coalesce({', '.join(f'{values}[{next(places)}]' for _ in paths)}, NULL)", Type.TEXT
        )
        for name, paths in keyed.items()
    }


def _scalar(document: str, paths: list[str], value: str) -> str:
    """Return a JSON value as a field; true and false become 1 and 0, as for conditions."""
    # A CASE in a CASE, since DuckDB may evaluate the second condition of an AND first.
    kinds = ", ".join(f"json_type({document}, {quoted(path)})" for path in paths)
    flag = (
        f"CASE WHEN coalesce({kinds}, NULL) <> 'BOOLEAN' THEN {value} "
        f"WHEN {value} = 'true' THEN '1' ELSE '0' END"
    )
    return f"CASE WHEN {value} IN ('true', 'false') THEN {flag} ELSE {value} END"


def _field(name: str, candidates: list[str]) -> Value:
    if pattern := _LAMBDA_TEXTS.get(name):
        return Value(f"nullif(regexp_extract(message, {quoted(pattern)}, 1), '')", Type.TEXT)
    if name in _LAMBDA_NUMBERS:
        pattern, scale = _LAMBDA_NUMBERS[name]
        digits = f"TRY_CAST(regexp_extract(message, {quoted(pattern)}, 1) AS DOUBLE)"
        return Value(f"CASE WHEN {_REPORT} THEN {digits} * {scale} END", Type.NUMBER)
    candidates += _by_position(name)
    return Value(f"coalesce({', '.join(candidates)}, NULL)" if candidates else _NOTHING, Type.TEXT)


def _by_position(name: str) -> Iterator[str]:
    for pattern, names in _COLUMNS.items():
        if name in names.split():
            place = names.split().index(name) + 1
            matches = f"regexp_matches(message, {quoted(pattern)})"
            yield f"CASE WHEN {matches} THEN split_part(message, ' ', {place}) END"
