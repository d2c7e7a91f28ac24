"""What other query languages have, and what is said to whoever writes it here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from local.insights.functions import FUNCTIONS
from local.insights.syntax import QueryError, Span

OPERATORS = {
    "<>": "unequal is written !=",
    "&&": "both is written a = 1 and b = 2",
    "||": "either is written a = 1 or b = 2",
    "exists": "a field that is there is ispresent(field)",
    "is": "a field that is missing is not ispresent(field)",
    "between": "a range is written a >= 1 and a <= 2",
    "contains": "a part of a text is written like 'part'",
    "matches": "a regular expression is written like /a+/",
    "regexp": "a regular expression is written like /a+/",
    "rlike": "a regular expression is written like /a+/",
    "ilike": "a part of a text in any case is written like /(?i)part/",
    "startswith": "the beginning of a text is written startsWith(field, 'part')",
    "endswith": "the end of a text is written endsWith(field, 'part')",
}
OPERANDS = {
    "/": "a regular expression stands after like, =~ or parse, as in @message like /a+/",
    "*": "there is no * for all fields; @message holds the whole event",
}
CHARACTERS = {
    ";": "a query ends without it",
    **dict.fromkeys("“”„‘’", "a text stands in straight quotes"),
}
COMMANDS = {
    "select": "fields a, b shows fields, and stats … by a makes groups of rows",
    "from": "SOURCE 'group' says which log group, before all else",
    "group": "stats … by a makes groups of rows",
    "having": "a filter after stats keeps groups",
    "project": "fields a, b shows fields",
    "extend": "fields a + b as c adds one",
    "eval": "fields a + b as c adds one",
    "summarize": "stats … by a makes groups of rows",
    "search": "filter @message like 'part' finds a text",
    "distinct": "dedup a keeps one row of each",
    "uniq": "dedup a keeps one row of each",
    "rex": "parse @message /a (?<name>.)/ takes a field out of a text",
    "extract": "parse @message /a (?<name>.)/ takes a field out of a text",
    "rename": "fields a as b gives another name",
    "take": "limit 10 keeps the first rows",
    "top": "stats count(*) as n by a | sort n desc | limit 10 finds the most frequent",
}
_FUNCTIONS = {
    "percentile": "pct(field, 99)",
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
    "ago": "toMillis(@timestamp) > now() * 1000 - 3600000",
    "match": "field like /a+/",
    "regexmatch": "field like /a+/",
    "uniquecount": "count_distinct(field)",
    "cast": "toNumber(field)",
}
_PERCENTILE = re.compile(r"p(?:ct)?_?(\d{1,2}(?:\.\d+)?|100)")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the known name that is most like a name; '' if none is."""
    return next(iter(get_close_matches(name, known, 1, cutoff)), "")


def meant(near: str) -> str:
    """Return the question whether the nearest name is meant; nothing if there is none."""
    return f"did you mean {near!r}?" if near else ""


def unknown_function(name: str, span: Span) -> QueryError:
    """Return the error that there is no such function, with what may be meant."""
    percentile = _PERCENTILE.fullmatch(name)
    here = f"pct(field, {percentile[1]})" if percentile else _FUNCTIONS.get(name)
    hint = f"this is written {here}" if here else meant(nearest(name, FUNCTIONS))
    supported = f"supported: {', '.join(FUNCTIONS)}"
    return QueryError(f"unknown function {name!r}; {hint or supported}", span)
