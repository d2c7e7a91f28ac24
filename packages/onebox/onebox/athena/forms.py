"""Other forms of queries: statements about the catalogue, and syntax that functions replace.

`DESCRIBE` and `SHOW` become queries of ``information_schema``, as Trino answers them. Source: AWS
documentation, Athena: DDL statements; Trino documentation, SQL language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from onebox.athena.errors import MalformedQuery, not_supported
from onebox.athena.functions import WITH_LAMBDA

DESCRIBED = "described_table"
"""A column of information_schema.columns whose value must be the name of a table."""
_NAME = r'[`"]?(\w+)[`"]?'
_PATH = rf"(?:{_NAME}\.)?{_NAME}"
_LIKE = r"(?:(?: LIKE)? '([^']*)')?"
_DESCRIBED = re.compile(rf"DESC(?:RIBE)?(?: EXTENDED| FORMATTED)? {_PATH}", re.IGNORECASE)
_SHOWN_COLUMNS = re.compile(
    rf"SHOW COLUMNS (?:FROM|IN) {_PATH}(?: (?:FROM|IN) {_NAME})?", re.IGNORECASE
)
_SHOWN_TABLES = re.compile(rf"SHOW TABLES(?: (?:FROM|IN) {_NAME})?{_LIKE}", re.IGNORECASE)
_SHOWN_DATABASES = re.compile(rf"SHOW (?:DATABASES|SCHEMAS){_LIKE}", re.IGNORECASE)
_OF_NO_USE = re.compile(rf"SHOW PARTITIONS {_PATH}", re.IGNORECASE)


def as_query(text: str) -> str:
    """Return a statement about the catalogue as a query; any other text as it is.

    Raises
    ------
    MalformedQuery
        If the statement is ``SHOW PARTITIONS``, which lists no partition that is projected.
    """
    words = " ".join(text.strip().removesuffix(";").split())
    if found := _DESCRIBED.fullmatch(words):
        values = "column_name AS col_name, hive_type AS data_type, '' AS comment"
        return _columns(values, found[1], found[2])
    if found := _SHOWN_COLUMNS.fullmatch(words):
        return _columns("column_name AS field", found[1] or found[3], found[2])
    if found := _SHOWN_TABLES.fullmatch(words):
        return (
            "SELECT table_name AS tab_name FROM information_schema.tables "  # noqa: S608
            f"WHERE {_schema(found[1])} AND {_like('table_name', found[2])} ORDER BY 1"
        )
    if found := _SHOWN_DATABASES.fullmatch(words):
        return (
            "SELECT schema_name AS database_name FROM information_schema.schemata "  # noqa: S608
            f"WHERE {_like('schema_name', found[1])} ORDER BY 1"
        )
    if found := _OF_NO_USE.fullmatch(words):
        raise MalformedQuery(
            "NOT_SUPPORTED",
            "SHOW PARTITIONS lists no projected partitions; SELECT DISTINCT shows their columns",
        )
    return text


def _columns(values: str, database: str | None, table: str) -> str:
    return (
        f"SELECT {values} FROM information_schema.columns WHERE {_schema(database)} "  # noqa: S608
        f"AND {DESCRIBED} = '{table.lower()}' ORDER BY ordinal_position"
    )


def _schema(database: str | None) -> str:
    return f"table_schema = '{database.lower()}'" if database else "is_current"


def _like(column: str, pattern: str | None) -> str:
    """Return a condition for a pattern, in which Athena has ``*`` for any text and ``|`` for or."""
    if pattern is None:
        return "TRUE"
    choices = (each.replace("*", "%") for each in pattern.split("|"))
    return "(" + " OR ".join(f"{column} LIKE '{each}'" for each in choices) + ")"


def with_functions(query: exp.Expr) -> exp.Expr:
    """Return a query with calls of functions in place of other syntax."""
    for node in list(query.walk(bfs=False))[::-1]:
        replacement = _FORMS[type(node)](node) if type(node) in _FORMS else node
        if node is query:
            return replacement
        if replacement is not node:
            node.replace(replacement)
    return query


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """Return a call of a function."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def _fetch(fetch: exp.Fetch) -> exp.Expr:
    options = fetch.args.get("limit_options")
    if options and options.args.get("with_ties"):
        raise not_supported("FETCH FIRST … WITH TIES", fetch)
    return exp.Limit(expression=fetch.args.get("count") or exp.Literal.number(1))


def _call(node: exp.Anonymous) -> exp.Expr:
    match node.name.lower(), node.expressions:
        case "position", [exp.In() as searched]:
            return call("strpos", searched.args["field"], searched.this)
        case name, [values, exp.Lambda() as function] if name in WITH_LAMBDA:
            return call(name, function, values)
    return node


def _extract(node: exp.Extract) -> exp.Expr:
    function = _FIELDS.get(node.name.upper())
    return call(function, node.expression) if function else node


def _within_group(node: exp.WithinGroup) -> exp.Expr:
    listed, order = node.this, node.expression
    if not isinstance(listed, exp.Anonymous) or not isinstance(order, exp.Order):
        return node
    *first, last = listed.expressions
    if isinstance(last, exp.Distinct):
        return node
    return call(listed.name, *first, exp.Order(this=last, expressions=order.expressions))


def _sum(node: exp.Add) -> exp.Expr:
    if isinstance(node.left, exp.Interval) and not isinstance(node.right, exp.Interval):
        return exp.Add(this=node.right, expression=node.left)
    return node


def _values(node: exp.Values) -> exp.Expr:
    """Return a SELECT of the rows of a statement VALUES."""
    if node.parent is not None:
        return node
    rows = node.expressions
    width = len(rows[0].expressions) if isinstance(rows[0], exp.Tuple) else 1
    names = [exp.to_identifier(f"_col{number}") for number in range(width)]
    alias = exp.TableAlias(this=exp.to_identifier("# values", quoted=True), columns=names)
    values = exp.Values(expressions=rows, alias=alias)
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=values))


def _with_windows(select: exp.Select) -> exp.Expr:
    """Return a SELECT with the windows of its clause WINDOW in place of their names."""
    named: dict[str, exp.Window] = {}
    for window in select.args.get("windows") or ():
        _complete(window, named)
        named[window.name.lower()] = window
    select.set("windows", None)
    for window in list(select.find_all(exp.Window)):
        if window.find_ancestor(exp.Select) is select:
            _complete(window, named)
    return select


def _complete(window: exp.Window, named: Mapping[str, exp.Window]) -> None:
    """Give a window the parts of the one that it names."""
    name = window.alias
    if not name:
        return
    if name.lower() not in named:
        raise MalformedQuery("INVALID_WINDOW_REFERENCE", f"Cannot resolve WINDOW name {name}")
    for part, value in named[name.lower()].args.items():
        if part in {"partition_by", "order", "spec"} and value and not window.args.get(part):
            copied = [each.copy() for each in value] if isinstance(value, list) else value.copy()
            window.set(part, copied)
    window.set("alias", None)


def _trim(node: exp.Trim) -> exp.Expr:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(node.text("position").upper(), "trim")
    return call(name, *filter(None, (node.this, node.args.get("expression"))))


def _substring(node: exp.Substring) -> exp.Expr:
    return call(
        "substring", *filter(None, (node.this, node.args.get("start"), node.args.get("length")))
    )


_FIELDS = {
    "DOW": "day_of_week", "DAY_OF_WEEK": "day_of_week", "DOY": "day_of_year",
    "DAY_OF_YEAR": "day_of_year", "DAY_OF_MONTH": "day", "WEEK": "week", "YOW": "year_of_week",
    "YEAR_OF_WEEK": "year_of_week",
}  # fmt: skip
_FORMS: dict[type[exp.Expr], Callable[..., exp.Expr]] = {
    exp.Bracket: lambda node: (
        call("array[]", node.this, *node.expressions) if len(node.expressions) == 1 else node
    ),
    exp.Fetch: _fetch,
    exp.Anonymous: _call,
    exp.CurrentTimestamp: lambda node: node if node.this else call("now"),
    exp.Localtimestamp: lambda node: node if node.this else call("localtimestamp()"),
    exp.AtTimeZone: lambda node: (
        call("at_timezone", node.this, node.args["zone"])
        if isinstance(node.args["zone"], exp.Literal)
        else node
    ),
    exp.Extract: _extract,
    exp.WithinGroup: _within_group,
    exp.Add: _sum,
    exp.Values: _values,
    exp.Select: _with_windows,
    exp.Trim: _trim,
    exp.Substring: _substring,
}
