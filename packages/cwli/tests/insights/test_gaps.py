"""Regular expressions that are texts with gaps between them."""

import re

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

from cwli.insights import EventSource, run
from cwli.insights.regexes import gaps_of
from cwli.insights.source import events_of
from cwli.insights.values import quoted


@pytest.mark.parametrize(
    ("pattern", "texts", "groups"),
    [
        (r"user=(?<user>\S+) took (?<ms>\d+)", ["user=", " took ", ""], [0, 1]),
        (r'^(\S+) - \[([^\]]+)\] "', ["", " - [", '] "'], [0, 1]),
        (r"\.x\/(?:\d+)% ([^ ]{2,}) y", [".x/", "% ", " y"], [1]),
    ],
)
def test_a_gap_ends_where_the_next_text_first_occurs(pattern, texts, groups):
    found = gaps_of(pattern)
    assert (found and found.texts, found and found.groups) == (texts, groups)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(\S+) x", r"a(\w+)b", "a.*b", "ab+(\\d)", r"a(\d)(\w)", r"a(\d)$", r"a(\d|x) ",
        r"(a(\d)b)", r"a(\d)+ ", "(?i)a(\\d) ", r"a([[:digit:]]+) ", r"a(\d) |b",
        r"a\b(\d)", r"^(\d)^",
    ],
)  # fmt: skip
def test_other_regular_expressions_have_no_gaps(pattern):
    assert gaps_of(pattern) is None


PIECES = ["a", "b", " ", "1", "=", "é", "\n"]
lines = st.lists(st.sampled_from([*PIECES, "a1 ", "a= ", "b12 "]), max_size=12).map("".join)
sets = st.sampled_from([r"\S", r"\d", "[a-b]", "[^ ]", r"\D", r"[^\n=]"])
gaps = st.builds("{}{}".format, sets, st.sampled_from(["", "+", "*", "?", "{2}", "+?", "*?"]))
literals = st.lists(st.sampled_from(["a", "b", " ", "1", "=", r"\.", "é"]), min_size=1, max_size=2)


@st.composite
def patterns(draw):
    """Return a regular expression of texts and gaps, of which the first gap is a group."""
    parts = [draw(st.sampled_from(["^", "^a", "a", " ", "="]))]
    for number in range(draw(st.integers(1, 3))):
        gap = draw(gaps)
        parts.append(f"(?<g{number}>{gap})" if number == 0 or draw(st.booleans()) else gap)
        parts += draw(literals)
    return "".join(parts[: draw(st.sampled_from([len(parts), -1]))])


def events(messages):
    rows = ", ".join(f"({n}, {quoted(message)})" for n, message in enumerate(messages))
    return events_of(
        f"(VALUES {rows}) AS t(n, m)",
        timestamp="n::BIGINT",
        ingestion_time="n::BIGINT",
        log="''",
        log_stream="''",
        message="m",
        ptr="n::VARCHAR",
    )


def captured(pattern: str, source: EventSource) -> list[dict[str, str]]:
    result = run(f"parse @message /{pattern}/ | sort @timestamp", source)
    rows = [{cell["field"]: cell["value"] for cell in row} for row in result.rows]
    return [{k: v for k, v in row.items() if k.startswith("g")} for row in rows]


def test_five_groups_are_captured_also_where_the_first_text_occurs_twice():
    pattern = r"a=(?<ga>\d+) b=(?<gb>\d*) c=(?<gc>\S+) d=(?<gd>\d+) e=(?<ge>\S+)"
    messages = ["a=1 b= c=xa=2 d=3 e=a=4", "a=x a=1 b=2 c=3 d=4 e=5 a=6", "a=1 b=2"]
    first, second = ("1", "", "xa=2", "3", "a=4"), ("1", "2", "3", "4", "5")
    names = ["ga", "gb", "gc", "gd", "ge"]
    expected = [dict(zip(names, row, strict=True)) for row in (first, second)]
    assert captured(pattern, events(messages)) == [*expected, {}]


@fuzz(150)
@given(pattern=patterns(), messages=st.lists(lines, min_size=1, max_size=8))
def test_the_captures_are_those_of_the_regular_expression(pattern, messages):
    compiled = re.compile(pattern.replace("?<g", "?P<g"), re.ASCII)
    matches = [compiled.search(message) for message in messages]
    expected = [match.groupdict() if match else {} for match in matches]
    assert captured(pattern, events(messages)) == expected
