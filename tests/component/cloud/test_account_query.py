"""``tidemark query --from-aws`` over the Logs API of the one-machine cloud."""

import time

import pytest
from click.testing import CliRunner

from aws.client.account import account_logs
from cwli.program import Refused
from onebox.app import ACCOUNT
from tidemark.cli.query import command

QUERY = "parse @message 'n=*' as n | stats sum(n) as total, count(*) by @logStream"


@pytest.fixture
def query(endpoint, logs, monkeypatch, tmp_path):
    for name, value in endpoint.environment().items():
        monkeypatch.setenv(name, value)
    api = endpoint.client("logs")
    api.create_log_group(logGroupName="group")
    api.create_log_group(logGroupName="group-of-nothing")
    now = time.time_ns() // 1_000_000
    earlier = [{"timestamp": now - 3 * 3_600_000, "message": "n=9"}]
    for stream, numbers in (("a", (1, 2)), ("b", (3,))):
        api.create_log_stream(logGroupName="group", logStreamName=stream)
        lines = [{"timestamp": now - 10_000 + n, "message": f"n={n}"} for n in numbers]
        events = [*earlier, *lines]
        api.put_log_events(logGroupName="group", logStreamName=stream, logEvents=events)

    def query(*arguments, group="group"):
        state = str(tmp_path / "state")
        options = ["--from-aws", group, "--start", "-2h", "--state", state, *arguments]
        return CliRunner().invoke(command, options)

    return query


def test_the_events_of_a_group_are_queried_as_often_as_wanted(query):
    for _ in range(2):
        done = query(QUERY, "--format", "csv")
        assert done.stdout == "@logStream,total,count(*)\na,3,2\nb,3,1\n", done.output
    assert " of group into " in done.stderr


def test_diff_also_reads_the_events_of_the_earlier_time_range(query):
    done = query("diff | display @sampleCount, @differenceDescription", "--format", "csv")
    assert done.stdout == "@sampleCount,@differenceDescription\n3,more\n", done.output


@pytest.mark.parametrize("verify", [[], ["--verify"]])
def test_a_diff_of_overlapping_time_ranges_is_refused_with_its_place(query, verify):
    error = query("diff previousDay", "--start", "-30h", *verify).exception
    assert isinstance(error, Refused)
    assert str(error).startswith("query: line 1, column 1: diff needs a time range that")


def test_a_group_has_no_events_from_two_weeks_before_its_creation(query):
    now = time.time()
    with account_logs() as account:
        assert now - 60 < account.group("group").oldest + 14 * 86_400 <= now


def test_the_service_has_the_same_rows(query):
    done = query(QUERY, "--verify")
    assert (done.exit_code, done.stdout) == (0, "AWS returns the same 2 rows\n"), done.output


def test_the_log_of_a_fetched_event_is_its_account_and_group(query):
    text = "parse @log '*:*' as account, name | stats count(*) by account, name, @log"
    done = query(text, "--format", "csv")
    row = f"{ACCOUNT},group,{ACCOUNT}:group,3"
    assert done.stdout == f"account,name,@log,count(*)\n{row}\n", done.output
    verified = query(text, "--verify")
    assert verified.stdout == "AWS returns the same 1 row\n", verified.output
    assert query("SOURCE 'group' | stats count(*) as n", "--format", "csv").stdout == "n\n3\n"
    assert "there are group" in str(query("SOURCE 'other' | stats count(*) as n").exception)


def test_rows_that_the_service_does_not_have_are_shown(query, endpoint):
    query(QUERY)
    # An event that comes later than an hour stays open is not fetched.
    late = {"timestamp": int((time.time() - 5_400) * 1000), "message": "n=4"}
    endpoint.client("logs").put_log_events(
        logGroupName="group", logStreamName="a", logEvents=[late]
    )
    done = query("stats count(*) by @log", "--verify")
    assert done.exit_code == 1
    assert "--verify: rows that differ: 2" in done.output
    assert 'only on AWS: {"@log": "' in done.stderr


@pytest.mark.parametrize(
    ("group", "sentence"),
    [
        ("gro", "--from-aws: there is no log group 'gro'"),
        ("group-of-nothing", "group-of-nothing has no events in this time range"),
    ],
)
def test_a_group_without_events_is_named(query, group, sentence):
    done = query(QUERY, group=group)
    assert done.exit_code == 1
    assert sentence in done.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fields a", "a.log", "--from-aws", "g", "--start", "-1h"], "PATH: this is not accepted"),
        (["fields a", "--follow", "--from-aws", "g", "--start", "-1h"], "--follow: this is not"),
        (["fields a", "--from-aws", "g"], "--from-aws: --start is needed"),
        (["fields a |", "--from-aws", "g", "--start", "-1h", "--end", "-2h"], "after the end"),
        (["stats |", "--from-aws", "g", "--start", "-1h"], "query: line 1, column 7"),
        (["fields a", "--verify"], "--verify needs --from-aws: it compares"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_before_anything_is_fetched(arguments, sentence):
    error = CliRunner().invoke(command, arguments).exception
    assert isinstance(error, Refused)
    assert sentence in str(error)
