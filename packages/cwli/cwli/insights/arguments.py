"""Arguments of a call: their number, those that the query leaves out, and regular expressions."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from cwli.insights.functions import FUNCTIONS, Function
from cwli.insights.scopes import Scope
from cwli.insights.syntax import Call, Expression, Field, Number, QueryError, Regex, Text
from cwli.insights.values import Type


def with_implied(call: Call, function: Function, scope: Scope) -> Call:
    """Return a call with the arguments that its function implies, such as the time of ``bin``.

    Raises
    ------
    QueryError
        If an implied field is no longer a field of the query.
    """
    missing = [name for name in function.implied if name not in scope.fields]
    if missing:
        raise QueryError(
            f"{call.function} needs {missing[0]}, which is not a result of stats", call.span
        )
    implied = (Field(call.span, name) for name in function.implied)
    return replace(call, arguments=(*implied, *call.arguments))


def with_patterns(call: Call, function: Function) -> Call:
    """Return a call with regular expressions in place of texts where the function takes them."""

    def read(place: int, argument: Expression) -> Expression:
        if function.reads_as(place) is not Type.REGEX:
            return argument
        if not isinstance(argument, Text):
            raise QueryError(
                f"{call.function} takes a regular expression in quotes here", argument.span
            )
        return Regex(argument.span, argument.value)

    return replace(call, arguments=tuple(map(read, count(), call.arguments)))


def check_arguments(call: Call, function: Function) -> None:
    """Refuse a call with too few, too many or wrong arguments.

    Raises
    ------
    QueryError
        If the number of arguments is not the function's, or a percentile is not a number.
    """
    fewest, most = function.arity
    number = len(call.arguments)
    if number < fewest or (most is not None and number > most):
        arity = str(fewest) if fewest == most else f"{fewest} to {most or 'any number of'}"
        arguments = "argument" if arity == "1" else "arguments"
        raise QueryError(f"{call.function} takes {arity} {arguments}, not {number}", call.span)
    if function is FUNCTIONS["pct"]:
        percent = call.arguments[1]
        if not isinstance(percent, Number) or not 0 <= percent.value <= 100:
            raise QueryError(
                f"{call.function} takes a number from 0 to 100 after the field", percent.span
            )
