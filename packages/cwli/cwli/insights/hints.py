"""Hints for words of other query languages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cwli.insights.functions import FUNCTIONS
from cwli.insights.syntax import QueryError, Span

OPERATORS = {
    "<>": "write a != b",
    "!~": "write field not like /a+/",
    "&&": "write a = 1 and b = 2",
    "||": "write a = 1 or b = 2",
    "exists": "write ispresent(field)",
    "is": "write not ispresent(field) for a missing field",
    "between": "write a >= 1 and a <= 2",
    "contains": "write field like 'part'",
    "matches": "write field like /a+/",
    "regexp": "write field like /a+/",
    "rlike": "write field like /a+/",
    "ilike": "write field like /(?i)part/",
    "startswith": "write startsWith(field, 'part')",
    "endswith": "write endsWith(field, 'part')",
    "when": "write case(a = 1, 'x', 'y')",
}
OPERANDS = {
    "/": "write a regular expression after like, =~ or parse, as in @message like /a+/",
    "*": "there is no * for all fields; @message holds the whole event",
}
CHARACTERS = {
    ";": "remove it; a query has no end mark",
    **dict.fromkeys("“”„‘’", "write texts in straight quotes"),
}
COMMANDS = {
    "select": "write fields a, b to show fields, or stats … by a to group rows",
    "from": "begin the query with SOURCE 'group' to choose a log group",
    "group": "write stats … by a to group rows",
    "having": "write filter after stats to select groups",
    "project": "write fields a, b to show fields",
    "extend": "write fields a + b as c to add a field",
    "eval": "write fields a + b as c to add a field",
    "summarize": "write stats … by a to group rows",
    "search": "write filter @message like 'part' to find a text",
    "distinct": "write dedup a to keep one row for each value",
    "uniq": "write dedup a to keep one row for each value",
    "rex": "write parse @message /a (?<name>.)/ to take a field from a text",
    "extract": "write parse @message /a (?<name>.)/ to take a field from a text",
    "rename": "write fields a as b to rename a field",
    "take": "write limit 10 to keep the first rows",
    "top": "write stats count(*) as n by a | sort n desc | limit 10 for the most frequent values",
}
_FUNCTIONS = {
    "quantile": "pct(field, 99)",
    "average": "avg(field)",
    "mean": "avg(field)",
    "distinct": "count_distinct(field)",
    "dc": "count_distinct(field)",
    "exists": "ispresent(field)",
    "isnull": "not ispresent(field)",
    "ifnull": "coalesce(field, 0)",
    "nvl": "coalesce(field, 0)",
    "len": "strlen(field)",
    "length": "strlen(field)",
    "upper": "toupper(field)",
    "lower": "tolower(field)",
    "contains": "strcontains(field, 'part')",
    "substring": "substr(field, 0, 3)",
    "date_trunc": "datefloor(@timestamp, 1h)",
    "hour": "formatDate(@timestamp, '%H')",
    "dayofweek": "formatDate(@timestamp, '%a')",
    **dict.fromkeys(("countif", "count_if"), "sum(a = 1)"),
    **dict.fromkeys(
        ("ago", "date_sub", "dateadd"), "toMillis(@timestamp) > now() * 1000 - 3600000"
    ),
    "match": "field like /a+/",
    "regexmatch": "field like /a+/",
    "uniquecount": "count_distinct(field)",
    "cast": "toNumber(field)",
    **dict.fromkeys(("strpos", "indexof", "instr", "position"), "strcontains(field, 'part')"),
    **dict.fromkeys(
        ("values", "list", "collect", "array_agg"),
        "count_distinct(field) for their number, or stats count(*) by field for a row of each",
    ),
}
_PERCENTILE = re.compile(r"p(?:ct)?_?(\d{1,2}(?:\.\d+)?|100)")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the known name that is most similar to a name, '' if none is similar."""
    from difflib import get_close_matches  # noqa: PLC0415 (few queries are refused)

    return next(iter(get_close_matches(name, known, 1, cutoff)), "")


def suggestion(near: str) -> str:
    """Return a question that suggests the nearest name, '' without a name."""
    return f"did you mean {near!r}?" if near else ""


def unknown_function(name: str, span: Span) -> QueryError:
    """Return the error for an unknown function, with a suggestion."""
    percentile = _PERCENTILE.fullmatch(name)
    equivalent = f"pct(field, {percentile[1]})" if percentile else _FUNCTIONS.get(name)
    hint = f"write {equivalent}" if equivalent else suggestion(nearest(name, FUNCTIONS))
    supported = f"supported: {', '.join(FUNCTIONS)}"
    return QueryError(f"unknown function {name!r}; {hint or supported}", span)
