"""A template answers for all of its messages, or says that the answer is uncertain."""

import re
from contextlib import suppress

import duckdb
import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

from cwli.insights.names import resolve
from cwli.insights.parser import parse
from cwli.insights.sql import statements
from cwli.insights.templates import CONSTANT, MARK, Template, UncertainError, variable

WROTE = Template(f"Wrote {MARK} rows to S{CONSTANT}3{CONSTANT} at {MARK} per second")
PARSE = "parse '* at * per' as a, rate"

texts = st.sampled_from(["a", " at ", "S", "-", ".", " ", "b c", "%", "'", "é", "1"])
digits = st.sampled_from("0129af")
values = (
    st.builds("{}{}{}".format, digits, st.sampled_from(["", ".", "-", "1-", "a"]), digits) | digits
)
parts = st.lists(st.tuples(st.sampled_from(["text", "variable", "constant"]), texts, values))


def written(drawn):
    """Return the text of a template, and the message with its variables."""
    template, message, variables = "", "", []
    for kind, text, value in drawn:
        message += text if kind == "text" else value
        template += {"text": text, "variable": MARK}.get(kind, f"{CONSTANT}{value}{CONSTANT}")
        variables += [] if kind == "text" else [value]
    return template, message, variables


def plain_captures(message, literals):
    """Return the captures of a glob by Python's lazy regular expression."""
    pattern = "(.*?)".join(map(re.escape, literals)) + ("" if literals[-1] else r"\Z")
    found = re.search(pattern, message, re.DOTALL)
    return list(found.groups()) if found else [None] * (len(literals) - 1)


def evaluated(captures, variables):
    columns = [f"'{value}' AS {variable(n)}" for n, value in enumerate(variables, 1)]
    selected = ", ".join(capture.sql for capture in captures)
    return list(
        duckdb.execute(f"SELECT {selected} FROM (SELECT {', '.join(['0', *columns])})").fetchone()
    )


@fuzz(1000)
@given(parts, st.data())
def test_a_template_has_a_text_if_each_of_its_messages_has_it(drawn, data):
    template, message, _ = written(drawn)
    begin = data.draw(st.integers(0, len(message)))
    text = data.draw(texts | st.just(message[begin : begin + 3]))
    with suppress(UncertainError):
        assert Template(template).holds(text) == (text in message)


@fuzz(1000)
@given(parts, st.lists(texts | st.just(""), min_size=2, max_size=4))
def test_the_captures_of_a_template_are_those_of_its_messages(drawn, literals):
    template, message, variables = written(drawn)
    with suppress(UncertainError):
        captures = Template(template).captures(literals)
        assert evaluated(captures, variables) == plain_captures(message, literals)


@pytest.mark.parametrize("text", ["rows to S3 at ", " per second", "3", ""])
def test_a_text_outside_of_the_variables_is_certain(text):
    assert WROTE.holds(text)


@pytest.mark.parametrize("text", ["rows to S4", "s per", "at x per", "Wrote - rows", ". rows"])
def test_a_text_that_no_variable_can_complete_is_certainly_absent(text):
    assert not WROTE.holds(text)


@pytest.mark.parametrize("text", ["7", "Wrote 1", "5 per", "at 5 per", "0 rows to S3 at 1", "."])
def test_a_text_that_a_variable_may_complete_is_uncertain(text):
    with pytest.raises(UncertainError):
        WROTE.holds(text)


def selected(query, template=WROTE):
    """Return the SELECT of a query for the messages of a template; '' if messages are needed."""
    values = statements(resolve(parse(query))).message_values
    sql = values.for_template(template)
    return "" if sql == values.sql else sql


@pytest.mark.parametrize(
    "query",
    [
        f"filter @message like 'to S3' | {PARSE} | stats avg(rate)",
        f"filter not (@message like 'x' or @message like 'y') | {PARSE} | stats max(rate)",
        f"{PARSE} | filter rate > 5 and @logStream like 's' | stats count(*) by bin(1m), rate",
        f"{PARSE} | parse rate '*.*' as x, y | stats sum(x)",
        "filter @message like 'to S3' or @logStream = 's' | stats count(*)",
    ],
)
def test_a_query_that_a_template_decides_reads_no_message(query):
    assert "message" not in selected(query)
    assert selected(query)


@pytest.mark.parametrize(
    "query",
    [
        "filter @message like 'S4' | stats count(*)",
        f"filter @message not like 'to' | {PARSE} | stats max(rate)",
    ],
)
def test_a_query_that_keeps_no_message_of_a_template_reads_none(query):
    assert selected(query) is None


@pytest.mark.parametrize(
    "query",
    [
        "filter @message like '7' | stats count(*)",
        "filter @message like /S3/ | stats count(*)",
        "parse 'Wrote *5' as n | stats sum(n)",
        "parse /(?<n>[0-9]+) rows/ | stats sum(n)",
        "fields strlen(@message) as n | stats sum(n)",
        "filter field = 1 | stats count(*)",
    ],
)
def test_a_query_that_a_template_leaves_uncertain_reads_its_messages(query):
    assert selected(query) == ""
