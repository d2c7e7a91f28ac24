"""The parser of one query, which inserts its parameters and refuses unsupported parts.

The grammar is sqlglot's for Trino, but functions keep the names of the query: only
`onebox.athena.functions` defines them.
"""

from __future__ import annotations

import ctypes
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import wraps
from itertools import groupby
from typing import ParamSpec, TypeVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.trino import Trino
from sqlglot.errors import ParseError
from sqlglot.parsers.trino import TrinoParser

from onebox.athena.errors import TOO_DEEP, MalformedQuery
from onebox.athena.information_schema import as_query
from onebox.athena.rewriting import with_functions
from onebox.athena.syntax import first_mismatch, tokens

_MOST_CALLS = 10_000
MOST_SECONDS_TO_READ = 20.0
"""The time limit of each step before the run of a query: its parse and its translation [s]."""
# A call within a generator or a sort takes below 2 kB of the stack of C.
_STACK_BYTES = 128 * 1024 * 1024
_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Limit:
    """Python's limit of calls within each other, which is one for all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = sys.getrecursionlimit()

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Raise the limit until the last block that needs it ends."""
        with self._lock:
            if not self._users:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(_MOST_CALLS, self._before))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    sys.setrecursionlimit(self._before)

    def submit(self, pool: ThreadPoolExecutor, call: Callable[[], _R]) -> Future[_R]:
        """Start a call in a new thread, whose stack has room for the raised limit."""
        with self._lock:
            before = threading.stack_size(_STACK_BYTES)
            try:
                return pool.submit(call)
            finally:
                threading.stack_size(before)


_LIMIT = _Limit()


def deeply(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that has room for hundreds of brackets, and a limit of its time.

    It raises MalformedQuery in place of RecursionError, and after ``MOST_SECONDS_TO_READ``.
    """

    @wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        thread: Future[int] = Future()

        def call() -> _R:
            thread.set_result(threading.get_ident())
            return function(*args, **kwargs)

        with _LIMIT.raised(), ThreadPoolExecutor(1) as pool:
            reading = _LIMIT.submit(pool, call)
            try:
                return reading.result(MOST_SECONDS_TO_READ)
            except RecursionError:
                raise MalformedQuery("NOT_SUPPORTED", TOO_DEEP) from None
            except TimeoutError:
                refusal = f"A query that takes {MOST_SECONDS_TO_READ:g} seconds to read"
                refusal = f"{refusal} is not supported on one machine"
                raise MalformedQuery("NOT_SUPPORTED", refusal) from None
            finally:
                if not reading.done():
                    _end(thread.result())

    return run


class _Ended(BaseException):
    """The end of a thread that nobody awaits any more; no handler of errors is to catch it."""


def _end(thread: int) -> None:
    """Raise an exception in a thread, at its next instruction of Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_Ended))


_SPECIAL_FORMS = ("CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING")
# Other statements of Athena. AWS documentation, Athena, "DDL statements", "DML queries, functions,
# and operators".
_STATEMENTS = (
    *("ALTER", "CREATE", "DEALLOCATE", "DELETE", "DESC", "DESCRIBE", "DROP", "EXECUTE", "EXPLAIN"),
    *("INSERT", "MERGE", "MSCK", "OPTIMIZE", "PREPARE", "SHOW", "TABLE", "UNLOAD", "UPDATE"),
    *("USING", "VACUUM"),
)


class _Parser(TrinoParser):
    FUNCTIONS = {}  # noqa: RUF012 (as sqlglot declares it)
    FUNCTION_PARSERS = {name: TrinoParser.FUNCTION_PARSERS[name] for name in _SPECIAL_FORMS}  # noqa: RUF012
    # sqlglot leaves out a plus sign, whose operand would be of any type.
    UNARY_PARSERS = {  # noqa: RUF012
        **TrinoParser.UNARY_PARSERS,
        TokenType.PLUS: lambda self: exp.Neg(this=exp.Neg(this=self._parse_unary())),
    }
    NO_PAREN_FUNCTION_PARSERS = {"CASE": TrinoParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}  # noqa: RUF012


class Athena(Trino):
    """The dialect in which sqlglot reads Athena's queries."""

    Parser = _Parser
    # sqlglot counts the elements of an array from 0 else.
    INDEX_OFFSET = 0


_BINARY = {"this", "expression"}
# The supported fields of each part of a query.
_PARTS: dict[type[exp.Expr], set[str]] = {
    exp.Select: {
        *("with_", "expressions", "distinct", "from_", "joins", "where", "group", "having"),
        *("order", "limit", "offset"),
    },
    exp.Union: {"with_", "this", "expression", "distinct", "order", "limit", "offset"},
    exp.With: {"expressions"},
    exp.CTE: {"this", "alias"},
    exp.From: {"this"},
    exp.Join: {"this", "on", "using", "side", "kind"},
    exp.Table: {"this", "db", "catalog", "alias"},
    exp.TableAlias: {"this", "columns"},
    exp.Subquery: {"this", "alias"},
    exp.Values: {"expressions", "alias"},
    exp.Tuple: {"expressions"},
    exp.Unnest: {"expressions", "alias", "offset"},
    exp.Where: {"this"},
    exp.Having: {"this"},
    exp.Group: {"expressions"},
    **{part: {"expressions"} for part in (exp.GroupingSets, exp.Rollup, exp.Cube)},
    exp.Order: {"this", "expressions"},
    exp.Ordered: {"this", "desc", "nulls_first"},
    exp.Limit: {"expression"},
    exp.Offset: {"expression"},
    exp.Distinct: {"expressions"},
    exp.Alias: {"this", "alias"},
    exp.Column: {"this", "table"},
    exp.Identifier: {"this", "quoted"},
    exp.Star: set(),
    exp.Literal: {"this", "is_string"},
    exp.Null: set(),
    exp.Boolean: {"this"},
    exp.CurrentDate: set(),
    exp.Interval: {"this", "unit"},
    exp.Var: {"this"},
    exp.Array: {"expressions"},
    exp.Paren: {"this"},
    exp.Neg: {"this"},
    exp.Not: {"this"},
    exp.DPipe: {*_BINARY, "safe"},
    exp.Like: {*_BINARY, "negate"},
    exp.Escape: _BINARY,
    exp.In: {"this", "expressions", "query"},
    exp.Between: {"this", "low", "high"},
    exp.Exists: {"this"},
    exp.Case: {"this", "ifs", "default"},
    exp.If: {"this", "true"},
    exp.Cast: {"this", "to"},
    exp.TryCast: {"this", "to", "safe", "requires_string"},
    exp.DataType: {"this", "expressions", "nested"},
    exp.DataTypeParam: {"this"},
    exp.Extract: _BINARY,
    exp.Anonymous: {"this", "expressions"},
    exp.Lambda: {"this", "expressions"},
    exp.Filter: _BINARY,
    exp.Window: {"this", "partition_by", "order", "spec", "over"},
    exp.WindowSpec: {"kind", "start", "start_side", "end", "end_side"},
}
_PARTS |= dict.fromkeys((exp.Except, exp.Intersect), _PARTS[exp.Union])
_PARTS |= {
    operator: {*_BINARY, "typed", "safe"}
    for operator in (
        *(exp.And, exp.Or, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is),
        *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod),
    )
}
_JOINS = {"", "INNER", "CROSS", "OUTER", "LEFT", "RIGHT", "FULL"}
_CONSTANTS = (exp.Literal, exp.Boolean, exp.Null)


@deeply
def parse(text: str, parameters: Sequence[str] = ()) -> exp.Query:
    """Return the query of a text, with each ``?`` replaced by a parameter.

    Parameters
    ----------
    text
        One SELECT, WITH, or a union of them.
    parameters
        Literals as SQL writes them, such as ``'rocksdb'`` and ``2026`` (AWS documentation, Athena:
        StartQueryExecution, ExecutionParameters).

    Raises
    ------
    MalformedQuery
        If the text is not one query, or has a part that is not supported.
    """
    statement = _statement(as_query(text))
    _insert(statement, [_constant(parameter) for parameter in parameters])
    for part in statement.walk():
        _check_part(part)
    return statement


def _statement(text: str) -> exp.Query:
    words = tokens(text)
    try:
        _check_words(words)
        (statement,) = Athena().parser().parse(words, text)
    except ParseError as error:
        raise _unread(error) from error
    if statement is not None:
        statement = with_functions(statement)
    if not isinstance(statement, exp.Query):
        raise _refusal(f"{words[0].text.upper()} is not supported on one machine")
    return statement


def _check_words(words: Sequence[Token]) -> None:
    """Refuse other statements, several of them, and what is not a query of Trino."""
    first = words[0].text.upper() if words else "SELECT"
    if first in _STATEMENTS:
        raise _refusal(f"{first} is not supported on one machine, where a query can only SELECT")
    parts = groupby(words, lambda word: word.token_type is TokenType.SEMICOLON)
    count = sum(not is_end for is_end, _ in parts)
    if count != 1:
        raise _refusal(f"Only one sql statement is allowed. Got: {count}")
    at = first_mismatch(words)
    if at is not None:
        raise _mismatch(words[at] if at < len(words) else None, words[-1])


def _refusal(text: str, near: exp.Expr | None = None) -> MalformedQuery:
    return MalformedQuery("NOT_SUPPORTED", text, near)


def _mismatch(word: Token | None, last: Token) -> MalformedQuery:
    """Return the error for an unexpected word, or for the end of the query after its last one."""
    if word is None:
        return MalformedQuery("", f"line {last.line}:{last.col + 1}: mismatched input '<EOF>'")
    start = word.col - (word.end - word.start)
    return MalformedQuery("", f"line {word.line}:{start}: mismatched input '{word.text}'")


def _unread(error: ParseError) -> MalformedQuery:
    """Return the error for a query of Trino that sqlglot cannot read."""
    fault = error.errors[0]
    return _refusal(
        f"line {fault['line']}: '{fault['highlight']}' there is not supported on one machine"
    )


def _constant(parameter: str) -> exp.Expr:
    refusal = MalformedQuery(
        "INVALID_PARAMETER_USAGE",
        f"Execution parameter {parameter} is not a literal; a text is written in single quotes",
    )
    try:
        query = _statement(f"SELECT {parameter}")
    except MalformedQuery:
        raise refusal from None
    value: exp.Expr = query.selects[0]
    bare = value.this if isinstance(value, exp.Neg | exp.Cast) else value
    if query != exp.Select(expressions=[value]) or not isinstance(bare, _CONSTANTS):
        raise refusal
    for part in value.walk():
        part.meta.clear()  # its place is not a place in the query
    return value


def _insert(statement: exp.Query, constants: list[exp.Expr]) -> None:
    places = list(statement.find_all(exp.Placeholder, bfs=False))
    if len(places) != len(constants):
        raise MalformedQuery(
            "INVALID_PARAMETER_USAGE",
            f"Incorrect number of parameters: expected {len(places)} but found {len(constants)}",
        )
    for place, constant in zip(places, constants, strict=True):
        place.replace(constant)


# The words of SQL for sqlglot's names.
_WORDS = {"SAMPLE": "TABLESAMPLE", "METHOD": "NATURAL"}


def _sql_name(part: exp.Expr) -> str:
    """Return the words of SQL for a part: ``CURRENT_TIME`` for sqlglot's CurrentTime."""
    if isinstance(part, exp.ParseJSON):
        return "JSON"
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(part).__name__).upper()
    return words.replace(" ", "_") if words.startswith(("CURRENT ", "LOCAL ")) else words


def _check_part(part: exp.Expr) -> None:
    fields = {name for name, value in part.args.items() if value}
    name = _sql_name(part)
    if type(part) not in _PARTS:
        raise _refusal(f"{name} is not supported on one machine", part)
    if more := fields - _PARTS[type(part)]:
        words = ", ".join(sorted(word.strip("_").upper() for word in more))
        for inner, word in _WORDS.items():
            words = words.replace(inner, word)
        raise _refusal(f"{name} with {words} is not supported on one machine", part)
    if isinstance(part, exp.Join) and not {part.side, part.kind} <= _JOINS:
        raise _refusal(f"{part.side} {part.kind} JOIN is not supported on one machine", part)
