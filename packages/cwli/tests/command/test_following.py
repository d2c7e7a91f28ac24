"""``tidemark query --follow``, with the pauses in the test's hand."""

import json

import pytest
from click.testing import CliRunner

from cwli.command import command
from cwli.command.following import Following
from cwli.insights import compile as compile_query
from cwli.program import Refused


def followed(path, query, *appended, form="ndjson"):
    """Follow a file while a text is appended in each pause."""

    def wait():
        text = next(texts, None)
        if text is None:
            raise KeyboardInterrupt
        with path.open("ab") as file:
            file.write(text)

    texts = iter((*appended, b""))
    following = Following(compile_query(query), None, None, {}, form)
    with pytest.raises(KeyboardInterrupt):
        following.run((str(path),), wait)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "app.log"
    path.write_text("2024-06-02T14:25:00Z before\n")
    return path


def test_rows_of_new_events_come_in_the_order_of_their_lines(log, capsys):
    query = "parse @message 'ms=*' as ms | filter ms > 1 | display ms, @logStream # all"
    lines = (b"2024-06-02T14:26:0%dZ ms=%d\n" % (each, each) for each in (2, 1, 3, 4))
    followed(log, query, b"".join(lines))
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows == [{"ms": ms, "@logStream": "app.log"} for ms in "234"]


def test_a_person_reads_the_cells_of_a_row_on_a_line(log, capsys):
    followed(log, "display @timestamp, 'a\\tb' as x", b"2024-06-02T14:26:00Z\n", form="table")
    assert capsys.readouterr().out == "2024-06-02 14:26:00.000  a\\tb\n"


def test_damage_of_new_lines_is_counted(log, capsys):
    followed(log, "display @message", b"2024-06-02T14:26:00Z \xff\n")
    out, err = capsys.readouterr()
    assert json.loads(out) == {"@message": "2024-06-02T14:26:00Z \ufffd"}
    assert err == "warning: 1 line with bytes that are no text: 0-app.log, line 1\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["stats count(*)", "a.log"], "each row must come from one event"),
        (["sort @timestamp", "a.log"], "each row must come from one event"),
        (["fields @message"], "--follow: expected a file or a folder as PATH"),
        (["fields @message", "-"], "--follow: expected a file or a folder as PATH"),
        (
            ["fields @message", "a.log", "--format", "csv"],
            "--format: 'csv' is not accepted with --follow; expected table or",
        ),
        (["fields @message", "a.log", "--start", "-1h"], "--start has no effect"),
        (["fields @message", "a.log", "--strict"], "--strict has no effect"),
        (["fields @message", "/none.log"], "/none.log: this file cannot be read: No such file"),
    ],
)
def test_what_cannot_be_followed_is_refused(arguments, sentence):
    error = CliRunner().invoke(command, [*arguments, "--follow"]).exception
    assert isinstance(error, Refused)
    assert sentence in str(error)
