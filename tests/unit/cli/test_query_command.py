"""``tidemark query`` over stored logs, in this process."""

import click
import pytest
from click.testing import CliRunner

from cwli.insights.engine import QueryResult
from cwli.program import Refused
from onebox.app import ACCOUNT
from onebox.logs.store import LogStore
from tidemark.cli.query import _verify, command


@pytest.fixture
def query(tmp_path):
    store = LogStore(tmp_path / "logs", ACCOUNT)
    for group in ("/app", "/db"):
        store.append(group, "stream", [(0, "line")], 0)
    stored = ["--state", str(tmp_path), "--format", "csv"]
    return lambda *arguments: CliRunner().invoke(command, [*stored, *arguments])


@pytest.mark.parametrize(
    "arguments",
    [["SOURCE '/db' | stats count(*) by @log"], ["stats count(*) by @log", "--log-group", "/db"]],
)
def test_the_query_or_an_option_names_stored_log_groups(query, arguments):
    assert query(*arguments).stdout == f"@log,count(*)\n{ACCOUNT}:/db,1\n"


def test_without_a_name_all_stored_log_groups_are_read(query):
    done = query("stats count(*) as n by @log | sort @log | display n")
    assert (done.exit_code, done.stdout) == (0, "n\n1\n1\n")


def test_rows_are_printed_as_markdown(query):
    assert query("stats count(*) as n", "--format", "markdown").stdout == "| n |\n|--:|\n| 2 |\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["SOURCE '/none'"], "SOURCE: no log group is named '/none'; there are /app, /db"),
        (["SOURCE '/db'", "--log-group", "/db"], "--log-group: '/db' is given, but the query has"),
        (["limit 1", "--log-group", "g"], "--log-group: 'g' is not stored; there are /app, /db"),
        (["limit 1", "a.log", "--log-group", "g"], "--log-group: 'g' is not accepted with"),
        (
            ["limit 1", "--time-field", "t"],
            "--time-field, --time-format, --event-start: these options need a PATH",
        ),
        (["limit 1", "--sorted", "--start", "-1h"], "--sorted needs a PATH"),
        (["limit 1", "--follow"], "--follow: each row must come from one event"),
        (["limit 1", "--verify"], "--verify needs --from-aws"),
        (["limit 1", "--from-aws", "/g", "--sorted"], "--sorted: this is not accepted with"),
        (["limit 1", "a.log", "--from-aws", "/g"], "PATH: this is not accepted with --from-aws"),
    ],
)
def test_the_refusal_of_an_argument_is_one_sentence(query, arguments, sentence):
    refused = query(*arguments).exception
    assert isinstance(refused, Refused)
    assert str(refused).startswith(sentence)


def test_rows_that_differ_from_those_of_aws_are_counted_and_shown_by_their_side(capsys):
    rows = [[{"field": "n", "value": value}] for value in "112"]
    here = QueryResult(rows, {}, (), ("n",))

    _verify(here, [{"n": "2", "@ptr": "y"}, {"n": "1"}, {"n": "1"}])
    assert capsys.readouterr().out == "AWS returns the same 3 rows\n"
    with pytest.raises(click.ClickException, match=r"^--verify: rows that differ: 3$"):
        _verify(here, [{"n": "1"}, {"n": "2"}, {"n": "3"}, {"n": "3"}])
    assert capsys.readouterr().err.splitlines() == [
        'only here: {"n": "1"}', 'only on AWS: {"n": "3"}', 'only on AWS: {"n": "3"}'
    ]  # fmt: skip
