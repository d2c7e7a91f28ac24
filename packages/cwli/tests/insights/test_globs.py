import re

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from logs import Logs

from cwli import insights
from cwli.insights import run


def lazy(glob: str) -> re.Pattern[str]:
    """Return the meaning of a glob as a pattern, which reproduces all of AWS's examples."""
    first, *others = map(re.escape, glob.split("*"))
    # A star at the end takes the rest.
    rest = [f"(.*?){part}" for part in others[:-1]] + [
        f"(.*?){others[-1]}" if others[-1] else r"(.*)\Z"
    ]
    return re.compile(first + "".join(rest), re.DOTALL)


pieces = st.sampled_from(["a", "b", "ab", " ", "é", "\n", "☃", "'", "%", "\\", ".", "(", "_"])
words = st.lists(pieces, max_size=3).map("".join)
globs = st.lists(words, min_size=2, max_size=6).map("*".join)
messages = st.lists(st.lists(pieces, max_size=12).map("".join), min_size=1, max_size=25)


def glob_query(glob: str) -> str:
    names = ", ".join(f"g{index}" for index in range(glob.count("*")))
    text = glob.replace("\\", "\\\\").replace("'", "\\'")
    return f"parse @message '{text}' as {names} | display @message, {names} | sort @timestamp"


@fuzz(120)
@given(glob=globs, texts=messages)
def test_a_glob_captures_the_same_as_the_lazy_regular_expression(tmp_path_factory, glob, texts):
    store = Logs(tmp_path_factory.mktemp("logs"))
    store.append("g", "s", enumerate(texts), 0)
    rows = run(glob_query(glob), store.events(["g"]), 0, 10).records
    for text, row in zip(texts, rows, strict=True):
        match = lazy(glob).search(text)
        expected = {f"g{i}": group for i, group in enumerate(match.groups())} if match else {}
        assert {k: v for k, v in row.items() if k.startswith("g")} == expected


@fuzz(150)
@given(glob=globs, texts=messages, place=st.integers(0, 4))
def test_a_single_used_capture_of_a_glob_is_the_same(tmp_path_factory, glob, texts, place):
    store = Logs(tmp_path_factory.mktemp("logs"))
    store.append("g", "s", enumerate(texts), 0)
    name = f"g{place % glob.count('*')}"
    query = f"{glob_query(glob).split('|')[0]} | display {name} | sort @timestamp"
    rows = run(query, store.events(["g"]), 0, 10).records
    matches = [lazy(glob).search(text) for text in texts]
    expected = [match and match[1 + int(name[1:])] for match in matches]
    assert [row.get(name) for row in rows] == expected


@pytest.mark.parametrize(
    ("glob", "message", "captures"),
    [
        # AWS documentation, CloudWatch Logs Insights query syntax: parse.
        (
            "user=*, method:*, latency := *",
            "25 May 2019 10:24:39,474 [INFO] {foo=2, bar=data} The error was: DataIntegrity "
            "user=user6, method:GET, latency := 13.5",
            ["user6", "GET", "13.5"],
        ),
        (
            "[*] * The error was: *",
            "25 May 2019 10:24:39,474 [ERROR] {foo=2, bar=data} The error was: Time out",
            ["ERROR", "{foo=2, bar=data}", "Time out"],
        ),
        ("*", "all of\nit", ["all of\nit"]),
        ("**", "ab", ["", "ab"]),
        ("at * per", "at  per second", [""]),
        ("<*>", "a < b > c", [" b "]),
        ("*.*.*", "1.2.3.4", ["1", "2", "3.4"]),
        ("%*_", "100%_x_", [""]),
    ],
)
def test_a_glob_captures_lazily_and_anywhere(ask, glob, message, captures):
    names = [f"g{index}" for index in range(len(captures))]
    query = f"parse @message '{glob}' as {', '.join(names)} | display {', '.join(names)}"
    assert ask(query, message) == [dict(zip(names, captures, strict=True))]


def test_a_glob_without_a_match_keeps_the_row_without_its_fields(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: parse.
    query = "parse @message 'a=* b=*' as a, b | display @message, a, b"
    assert ask(query, "a=1 c=2") == [{"@message": "a=1 c=2"}]


def test_a_row_without_a_match_counts_as_a_row_but_not_as_a_value(ask):
    query = "parse @message 'n=*' as n | stats count(*), count(n), avg(n)"
    assert ask(query, "n=1", "n=3", "other") == [{"count(*)": "3", "count(n)": "2", "avg(n)": "2"}]


def test_a_capture_may_be_parsed_again(ask):
    query = "parse '*|*' as a, b | parse b '*-*' as c, d | parse c /(?<e>[0-9]+)/ | display d, e"
    assert ask(query, "x|y12-z") == [{"d": "z", "e": "12"}]


def test_a_glob_becomes_a_literal_search_for_the_used_captures_only():
    query = "parse @message '* * - * at * per second' as class, level, msg, rate | stats avg(rate)"
    sql = insights.compile(query).statements.message_values.sql
    assert "regexp_matches" not in sql
    assert sql.count("regexp_extract(") == 1


def test_an_unused_parse_is_left_out():
    query = "parse '* *' as a, b | parse a /(?<c>.)/ | stats count(*)"
    sql = insights.compile(query).statements.groups
    assert "strpos" not in sql
    assert "regexp" not in sql
