"""The functions of queries: the types of their arguments and values, and their SQL.

Source: AWS documentation, CloudWatch Logs Insights query syntax: supported operations and
functions, and stats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cwli.insights.addresses import (
    PRIVATE,
    RESERVED,
    bits,
    inside,
    v4_bits,
    v4_number,
    v6_bits,
    within,
)
from cwli.insights.times import format_date, histogram, parse_date, rate
from cwli.insights.values import (
    LEAST_LONG,
    ArgumentError,
    Type,
    Value,
    condition,
    finite,
    literal,
    long_integer,
    natural_order,
    number,
    text,
    truth,
)

ANY = None
_TEXT, _NUMBER, _TIME, _PERIOD = Type.TEXT, Type.NUMBER, Type.TIME, Type.PERIOD
_COUNTED = {Type.NUMBER, Type.BOOLEAN, Type.TIME}
# AWS documentation, CloudWatch Logs Insights query syntax: general functions, case.
_MOST_BRANCHES = 10
# The characters that trim removes and that isblank ignores.
_SPACE = "E' \\t\\n\\r\\f\\v'"


class Function(NamedTuple):
    """A function of the query language.

    Attributes
    ----------
    takes : tuple of Type or None
        The types that arguments are converted to; None leaves an argument as it is.
    sql : callable
        A function from the converted arguments to the value.
    fewest : int, optional
        The smallest number of arguments, by default all.
    repeats : bool
        Whether the last argument may occur any number of times.
    aggregate : bool
        Whether the function makes one value from many rows.
    implied : tuple of str
        The fields that are passed before the arguments of the query.
    """

    takes: tuple[Type | None, ...]
    sql: Callable[..., Value]
    fewest: int | None = None
    repeats: bool = False
    aggregate: bool = False
    implied: tuple[str, ...] = ()

    @property
    def arity(self) -> tuple[int, int | None]:
        """The smallest and the largest number of arguments in a query; None is any number."""
        number = len(self.takes) - len(self.implied)
        return (number if self.fewest is None else self.fewest, None if self.repeats else number)

    def reads_as(self, position: int) -> Type | None:
        """Return the type that the argument at a position is converted to."""
        return self.takes[min(position, len(self.takes) - 1)]


def _template(type_: Type, template: str) -> Callable[..., Value]:
    return lambda *arguments: Value(template.format(*arguments), type_)


def _condition(template: str) -> Callable[..., Value]:
    return lambda *arguments: condition(template.format(*arguments))


def _finite(template: str) -> Callable[..., Value]:
    return lambda *arguments: finite(template.format(*arguments))


def _variadic(name: str, type_: Type) -> Callable[..., Value]:
    return lambda *arguments: Value(f"{name}({', '.join(map(str, arguments))})", type_)


def _trim(name: str) -> Callable[..., Value]:
    def trim(value: Value, characters: Value | str = _SPACE) -> Value:
        return Value(f"{name}({value}, {characters})", _TEXT)

    return trim


def _position(value: Value) -> str:
    # Negative and too large positions are null; DuckDB would count back from the end.
    return f"TRY_CAST(TRY_CAST(trunc({value}) AS UINTEGER) AS INTEGER)"


def _substr(value: Value, start: Value, length: Value | None = None) -> Value:
    until = f", {_position(length)}" if length else ""
    return Value(f"substring({value}, {_position(start)} + 1::BIGINT{until})", _TEXT)


def _round(value: Value, digits: Value | None = None) -> Value:
    to = f", TRY_CAST(trunc({digits}) AS TINYINT)" if digits else ""
    return finite(f"round({value}{to})")


def _of_one_type(values: Sequence[Value]) -> list[Value]:
    """Return values of the same type: numbers if all count as numbers, else texts."""
    types = {value.type for value in values}
    if len(types) == 1:
        return list(values)
    return [(number if types <= _COUNTED else text)(value) for value in values]


def _coalesce(*values: Value) -> Value:
    same = _of_one_type(values)
    return Value(f"coalesce({', '.join(map(str, same))})", same[0].type)


def _bucket(round_: str) -> Callable[..., Value]:
    # Integer division would round times before 1970 up; floor does not.
    def bucket(time: Value, period: Value) -> Value:
        if period.constant is None:
            return _calendar_bucket(round_, time, period)
        return Value(f"TRY_CAST({round_}({time} / {period}) * {period} AS BIGINT)", _TIME)

    return bucket


def _calendar_bucket(round_: str, time: Value, period: Value) -> Value:
    start = f"time_bucket({period}, make_timestamp_ms({time}))"
    if round_ == "ceil":
        later = f"CASE WHEN epoch_ms({start}) = {time} THEN {start} ELSE {start} + {period} END"
        return Value(f"TRY(epoch_ms({later}))", _TIME)
    return Value(f"TRY(epoch_ms({start}))", _TIME)


def _aggregate(
    takes: Type | None, sql: Callable[..., Value], implied: tuple[str, ...] = ()
) -> Function:
    implied_types = (ANY,) * len(implied)
    return Function((*implied_types, takes), sql, aggregate=True, implied=implied)


def _extreme(name: str) -> Callable[..., Value]:
    # If some texts are numbers, the other texts do not count.
    def extreme(value: Value) -> Value:
        if value.type is not _TEXT:
            return Value(f"{name}({value})", value.type)
        double = f"{name}({number(value)})"
        # The digits of the integer, where several integers have the same double.
        digits = f"(CASE WHEN abs({double}) >= {LEAST_LONG} THEN {name}({long_integer(value)}) END)"
        exact = f"CASE WHEN CAST({digits} AS DOUBLE) = {double} THEN CAST({digits} AS VARCHAR) END"
        return Value(f"coalesce({exact}, {text(Value(double, _NUMBER))}, {name}({value}))", _TEXT)

    return extreme


def _edge(name: str) -> Callable[..., Value]:
    def edge(time: Value, pointer: Value, value: Value) -> Value:
        with_time = f"FILTER (WHERE {time} IS NOT NULL)"
        return Value(f"{name}({value}, ({time}, {pointer})) {with_time}", value.type)

    return edge


def _natural_edge(name: str) -> Callable[..., Value]:
    def edge(value: Value) -> Value:
        return Value(f"{name}({value}, ({', '.join(natural_order(value))}))", _TEXT)

    return edge


def _percentile(value: Value, percent: Value) -> Value:
    return finite(f"quantile_cont({value}, {percent} / 100)")


def _alternatives(*parts: Value) -> Value:
    """Return the value after the first true condition; a last value alone is the default."""
    pairs = list(zip(parts[::2], parts[1::2], strict=False))
    values = [value for _, value in pairs] + list(parts[2 * len(pairs) :])
    results = _of_one_type(values)
    whens = " ".join(
        f"WHEN {truth(when)} THEN {then}" for (when, _), then in zip(pairs, results, strict=False)
    )
    default = f" ELSE {results[-1]}" if len(parts) % 2 else ""
    return Value(f"(CASE {whens}{default} END)", results[0].type)


def _json_parse(value: Value) -> Value:
    return Value(f"CASE WHEN json_valid({value}) THEN {value} END", Type.STRUCTURE)


def _array(template: str) -> Callable[..., Value]:
    """Return a function of a JSON array, null where the first argument is not an array."""

    def of(value: Value, *others: Value) -> Value:
        json = text(value)
        is_array = f"CASE WHEN json_valid({json}) THEN json_type({json}) = 'ARRAY' END"
        return Value(f"CASE WHEN {is_array} THEN {template.format(json, *others)} END", _NUMBER)

    return of


def _array_contains(value: Value, member: Value) -> Value:
    has = _array("list_contains(json_extract_string({0}, '$[*]'), {1})")
    return condition(str(has(value, member)))


def _public(address: Value) -> Value:
    return condition(
        f"{bits(address)} IS NOT NULL AND NOT {within(address, (*PRIVATE, *RESERVED))}"
    )


def _contains(value: Value, part: Value, any_case: Value | None = None) -> Value:
    exact = f"contains({value}, {part})"
    if any_case is None:
        return condition(exact)
    loose = f"contains(lower({value}), lower({part}))"
    return condition(f"CASE WHEN {truth(any_case)} THEN {loose} ELSE {exact} END")


def _regex_replace(value: Value, pattern: Value, replacement: Value) -> Value:
    if re.search(r"[\\$][0-9]", str(replacement.constant or "")):
        # AWS documents no syntax for them.
        raise ArgumentError("groups of the match are not supported in a replacement", 2)
    escaped = f"replace({replacement}, '\\', '\\\\')"
    return Value(f"regexp_replace({value}, {pattern}, {escaped}, 'g')", _TEXT)


def _to_hex(value: Value) -> Value:
    whole = f"TRY_CAST(trunc({value}) AS BIGINT)"
    sign = f"CASE WHEN {whole} < 0 THEN '-0x' ELSE '0x' END"
    return Value(f"{sign} || lower(to_hex(TRY(abs({whole}))))", _TEXT)


def _subnet(bits_of: Callable[[object], str]) -> Callable[..., Value]:
    return lambda address, subnet: condition(inside(bits_of(address), subnet))


def _split(value: Value, separator: Value) -> Value:
    parts = f"to_json(string_split({value}, {separator}))"
    return Value(f"CAST({parts} AS VARCHAR)", Type.STRUCTURE)


def _distance(*degrees: Value) -> Value:
    """Return the kilometres between two places on a sphere of the Earth's mean radius."""
    latitude, longitude, to_latitude, to_longitude = degrees
    chord = (
        f"pow(sin(radians({to_latitude} - {latitude}) / 2), 2) + cos(radians({latitude})) * "
        f"cos(radians({to_latitude})) * pow(sin(radians({to_longitude} - {longitude}) / 2), 2)"
    )
    return finite(f"TRY(2 * 6371.0088e0 * asin(sqrt({chord})))")


_COUNT = "CAST(count({0}) AS DOUBLE)"
_FROM_HEX = "CAST(TRY_CAST('0x' || regexp_replace({0}, '^0[xX]', '') AS BIGINT) AS DOUBLE)"
_TIME_FIELDS = ("@timestamp", "@ptr")

FUNCTIONS: dict[str, Function] = {
    # stats: sample standard deviation and interpolated percentiles; AWS documents neither.
    # Compensated sums, so that the order of rows hardly matters.
    "avg": _aggregate(_NUMBER, _finite("favg({0})")),
    "sum": _aggregate(_NUMBER, _finite("fsum({0})")),
    "min": _aggregate(ANY, _extreme("min")),
    "max": _aggregate(ANY, _extreme("max")),
    "count": Function(
        (ANY,), lambda value="*": Value(_COUNT.format(value), _NUMBER), fewest=0, aggregate=True
    ),
    "count_distinct": _aggregate(ANY, _template(_NUMBER, _COUNT.format("DISTINCT {0}"))),
    "pct": Function((_NUMBER, _NUMBER), _percentile, aggregate=True),
    "median": _aggregate(_NUMBER, lambda value: _percentile(value, literal(50.0))),
    "stddev": _aggregate(_NUMBER, _finite("stddev_samp({0})")),
    "sortsfirst": _aggregate(_TEXT, _natural_edge("arg_min")),
    "sortslast": _aggregate(_TEXT, _natural_edge("arg_max")),
    "count_over_time": _aggregate(ANY, _template(_NUMBER, _COUNT)),
    "sum_over_time": _aggregate(_NUMBER, _finite("fsum({0})")),
    "rate": Function((_TIME, ANY, _NUMBER, _PERIOD), rate, aggregate=True, implied=_TIME_FIELDS),
    "histogram": Function((_NUMBER, _NUMBER), histogram, aggregate=True),
    "earliest": _aggregate(ANY, _edge("arg_min"), _TIME_FIELDS),
    "latest": _aggregate(ANY, _edge("arg_max"), _TIME_FIELDS),
    # General
    "ispresent": Function((ANY,), _condition("{0} IS NOT NULL")),
    "coalesce": Function((ANY,), _coalesce, repeats=True),
    "if": Function((ANY, ANY, ANY), _alternatives),
    "case": Function((ANY,) * (2 * _MOST_BRANCHES + 1), _alternatives, fewest=2),
    "isnumeric": Function((_NUMBER,), _condition("{0} IS NOT NULL")),
    # Nothing is masked on one machine (AWS documentation, CloudWatch Logs: View unmasked data).
    "unmask": Function((ANY,), lambda value: value),
    "messagesize": Function((_TEXT,), _template(_NUMBER, "CAST(strlen({0}) AS DOUBLE)")),
    # Maps and lists
    "jsonparse": Function((_TEXT,), _json_parse),
    "jsonstringify": Function((ANY,), text),
    "jsonarraysize": Function((ANY,), _array("CAST(json_array_length({0}) AS DOUBLE)")),
    "jsonarraycontains": Function((ANY, _TEXT), _array_contains),
    "split": Function((_TEXT, _TEXT), _split),
    # Addresses
    "isvalidip": Function((_TEXT,), lambda ip: condition(f"{bits(ip)} IS NOT NULL")),
    "isvalidipv4": Function((_TEXT,), lambda ip: condition(f"{v4_bits(ip)} IS NOT NULL")),
    "isvalidipv6": Function((_TEXT,), lambda ip: condition(f"{v6_bits(ip)} IS NOT NULL")),
    "isipinsubnet": Function((_TEXT, _TEXT), _subnet(bits)),
    "isipv4insubnet": Function((_TEXT, _TEXT), _subnet(v4_bits)),
    "isipv6insubnet": Function((_TEXT, _TEXT), _subnet(v6_bits)),
    "isprivateip": Function((_TEXT,), lambda ip: condition(within(ip, PRIVATE))),
    "isreservedip": Function((_TEXT,), lambda ip: condition(within(ip, RESERVED))),
    "ispublicip": Function((_TEXT,), _public),
    "ipv4tonumber": Function((_TEXT,), lambda ip: Value(v4_number(ip), _NUMBER)),
    # Text
    "isempty": Function((_TEXT,), _condition("coalesce({0}, '') = ''")),
    "isblank": Function((_TEXT,), _condition(f"trim(coalesce({{0}}, ''), {_SPACE}) = ''")),
    "concat": Function((_TEXT,), _variadic("concat", _TEXT), repeats=True),
    "strlen": Function((_TEXT,), _template(_NUMBER, "CAST(length({0}) AS DOUBLE)")),
    "toupper": Function((_TEXT,), _template(_TEXT, "upper({0})")),
    "tolower": Function((_TEXT,), _template(_TEXT, "lower({0})")),
    "trim": Function((_TEXT, _TEXT), _trim("trim"), fewest=1),
    "ltrim": Function((_TEXT, _TEXT), _trim("ltrim"), fewest=1),
    "rtrim": Function((_TEXT, _TEXT), _trim("rtrim"), fewest=1),
    "substr": Function((_TEXT, _NUMBER, _NUMBER), _substr, fewest=2),
    "replace": Function((_TEXT, _TEXT, _TEXT), _template(_TEXT, "replace({0}, {1}, {2})")),
    "regexreplace": Function((_TEXT, Type.REGEX, _TEXT), _regex_replace),
    "strcontains": Function((_TEXT, _TEXT, ANY), _contains, fewest=2),
    "startswith": Function((_TEXT, _TEXT), _condition("starts_with({0}, {1})")),
    "endswith": Function((_TEXT, _TEXT), _condition("ends_with({0}, {1})")),
    "urlencode": Function((_TEXT,), _template(_TEXT, "url_encode({0})")),
    "urldecode": Function((_TEXT,), _template(_TEXT, "TRY(url_decode({0}))")),
    "base64encode": Function((_TEXT,), _template(_TEXT, "to_base64(encode({0}))")),
    "base64decode": Function((_TEXT,), _template(_TEXT, "TRY(decode(from_base64({0})))")),
    "hextoascii": Function((_TEXT,), _template(_TEXT, "TRY(decode(unhex({0})))")),
    "md5": Function((_TEXT,), _template(_TEXT, "md5({0})")),
    "sha256": Function((_TEXT,), _template(_TEXT, "sha256({0})")),
    # Numbers
    "tonumber": Function((_NUMBER,), _template(_NUMBER, "{0}")),
    "todouble": Function((_NUMBER,), _template(_NUMBER, "{0}")),
    "toint": Function((_NUMBER,), _template(_NUMBER, "trunc({0})")),
    "tolong": Function((_NUMBER,), _template(_NUMBER, "trunc({0})")),
    "haversine": Function((_NUMBER,) * 4, _distance),
    "dectohex": Function((_NUMBER,), _to_hex),
    "hextodec": Function((_TEXT,), _template(_NUMBER, _FROM_HEX)),
    "abs": Function((_NUMBER,), _template(_NUMBER, "abs({0})")),
    "ceil": Function((_NUMBER,), _template(_NUMBER, "ceil({0})")),
    "floor": Function((_NUMBER,), _template(_NUMBER, "floor({0})")),
    "greatest": Function((_NUMBER,), _variadic("greatest", _NUMBER), repeats=True),
    "least": Function((_NUMBER,), _variadic("least", _NUMBER), repeats=True),
    "log": Function((_NUMBER,), _finite("TRY(ln({0}))")),
    "sqrt": Function((_NUMBER,), _finite("TRY(sqrt({0}))")),
    "round": Function((_NUMBER, _NUMBER), _round, fewest=1),
    # Time
    "bin": Function((_TIME, _PERIOD), _bucket("floor"), implied=("@timestamp",)),
    "datefloor": Function((_TIME, _PERIOD), _bucket("floor")),
    "dateceil": Function((_TIME, _PERIOD), _bucket("ceil")),
    "frommillis": Function((_TIME,), _template(_TIME, "{0}")),
    "tomillis": Function((_TIME,), _template(_NUMBER, "CAST({0} AS DOUBLE)")),
    "formatdate": Function((_TIME, _TEXT, _TEXT), format_date, fewest=2),
    "parsedate": Function((_TEXT, _TEXT, _TEXT), parse_date, fewest=2),
    "querystarttime": Function((), _template(_NUMBER, "CAST(getvariable('first_ms') AS DOUBLE)")),
    "queryendtime": Function((), _template(_NUMBER, "CAST(getvariable('last_ms') AS DOUBLE)")),
    "querytimerange": Function(
        (), _template(_NUMBER, "CAST(getvariable('last_ms') - getvariable('first_ms') AS DOUBLE)")
    ),
    "now": Function((), _template(_NUMBER, "CAST(getvariable('query_start') AS DOUBLE)")),
}
FUNCTIONS |= {
    # Other names of these functions on newer and older AWS pages.
    "countdistinct": FUNCTIONS["count_distinct"],
    "countovertime": FUNCTIONS["count_over_time"],
    "sumovertime": FUNCTIONS["sum_over_time"],
    "strftime": FUNCTIONS["formatdate"],
    # In public dashboards.
    "percentile": FUNCTIONS["pct"],
}
