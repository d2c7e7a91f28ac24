"""``cwli`` over files, in this process."""

import bz2
import gzip
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from zipfile import ZipFile

import pytest
from backports import zstd
from click.testing import CliRunner

from cwli.command import command
from cwli.command.arguments import MomentType, named_as_given
from cwli.program import Refused

LOG = "rate=1.5\nrate=2.5\nother\n"
MEAN = "parse @message 'rate=*' as rate | stats avg(rate) as mean"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "a.log"
    path.write_text(LOG)
    return str(path)


def query(*arguments, stdin=None):
    return CliRunner().invoke(command, arguments, input=stdin)


def test_a_query_is_a_file_its_text_or_standard_input(log, tmp_path):
    file = tmp_path / "mean.cwli"
    file.write_text(MEAN)
    marked = tmp_path / "marked.cwli"
    marked.write_text(MEAN, "utf-8-sig")
    for done in (
        query(MEAN, log, "--format", "csv"),
        query(str(file), log, "--format", "csv"),
        query(str(marked), log, "--format", "csv"),
        query("-", log, "--format", "csv", stdin=MEAN),
        query(MEAN, "-", "--format", "csv", stdin=LOG),
    ):
        assert (done.exit_code, done.stdout) == (0, "mean\n2\n"), done.output
        assert done.stderr == "1 row; 3 of 3 events matched, 24 bytes read\n"


def test_rows_are_printed_as_a_table_or_as_json(log):
    assert query(MEAN, log).stdout.split() == ["mean", "─" * 4, "2"]
    done = query(
        "parse @message 'rate=*' as rate | display rate | sort @ptr", log, "--format", "json"
    )
    assert json.loads(done.stdout) == [{"rate": "1.5"}, {"rate": "2.5"}, {"rate": None}]


def test_a_window_is_given_in_iso_8601_or_epoch_seconds(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("".join(f"2024-06-02T14:26:0{second}Z\n" for second in range(5)))
    window = ["--start", "2024-06-02T14:26:01", "--end", "1717338363"]
    done = query("stats count(*) as n", str(path), "--format", "csv", *window)
    assert done.stdout == "n\n3\n"
    done = query("limit 1", str(path), "--start", "noon")
    assert done.exit_code == 2
    assert "'noon' is not a time; accepted: 1717338360, 2024-06-02T14:26:00Z or -1h" in done.stderr


@pytest.mark.parametrize("mode", [["--lint"], ["--explain"], []])
def test_the_refusal_of_a_query_with_a_bad_syntax_is_one_sentence_with_its_place(log, mode):
    paths = [] if "--lint" in mode else [log]
    refused = query("fields @message | filtre 1", *paths, *mode).exception
    assert isinstance(refused, Refused)
    first, excerpt, caret = str(refused).splitlines()
    assert first.startswith("query: line 1, column 19: unknown command 'filtre'")
    assert (excerpt, caret) == ("fields @message | filtre 1", " " * 18 + "^")


def test_lint_needs_no_logs_and_says_that_the_query_is_accepted():
    assert query("--lint", "stats count(*) by bin(5m)").output == "accepted\n"
    done = query("--lint", "stats count(*) by bin(300s)")
    assert (done.exit_code, done.stdout) == (0, "accepted\n")
    assert done.stderr.startswith("warning: line 1, column 23: Logs Insights reads 300s as 60s")
    done = query("--lint", "filter @message like /a{1001}/")
    assert "column 22: not a regular expression of RE2" in str(done.exception)


def test_explain_shows_stages_and_sql():
    done = query("--explain", MEAN)
    assert done.stdout.startswith(
        "1. parse @message 'rate=*' as rate\n2. stats avg(rate) as mean\n"
    )
    assert "CREATE TEMP TABLE groups AS\nWITH " in done.stdout
    done = query("--explain", "STATS COUNT(*) BY bin( 300s )")
    assert done.stdout.startswith("1. STATS COUNT(*) BY bin( 300s )\n\n")
    assert done.stderr.startswith("warning: line 1, column 24: Logs Insights reads 300s as 60s")
    both = query("--explain", "--lint", "STATS COUNT(*) BY bin( 300s )")
    assert (both.stdout, both.stderr) == (f"{done.stdout}accepted\n", done.stderr)


def test_a_field_that_no_event_has_gets_a_warning(log):
    done = query("fields rat | limit 1", log)
    assert done.stderr.endswith("warning: no event has a field 'rat'\n")


def test_source_names_files(log):
    assert query(f"SOURCE '{log}' | stats count(*)", log, "--format", "csv").stdout.endswith("3\n")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("'/none'", "SOURCE: no log group is named '/none'; there are "),
        ("logGroups(namePrefix: ['/none'])", "SOURCE: PATH has no log group that logGroups sel"),
        ("logGroups(accountIdentifiers: ['111122223333'])",
         "SOURCE: PATH has no log group that logGroups selects; there are "),
    ],
)  # fmt: skip
def test_a_source_that_is_not_one_of_the_files_is_refused(log, source, sentence):
    refused = query(f"SOURCE {source} | stats count(*)", log).exception
    assert isinstance(refused, Refused)
    assert str(refused).startswith(sentence)
    assert str(refused).endswith(f"; there are {log}")


def test_a_lookup_table_is_a_file(log, tmp_path):
    table = tmp_path / "rates.csv"
    table.write_text("rate,name\n1.5,slow\n")
    text = "parse 'rate=*' as rate | lookup rates rate OUTPUT name | filter ispresent(name)"
    done = query(
        f"{text} | display name", log, "--format", "csv", "--lookup-table", f"rates={table}"
    )
    assert (done.exit_code, done.stdout) == (0, "name\nslow\n")
    done = query(text, log)
    assert "column 33: there is no lookup table 'rates'; none is given" in str(done.exception)
    for values, sentence in (
        (["rates"], "--lookup-table: 'rates' is not of the form NAME=FILE"),
        (["a=b", "a=c"], "--lookup-table: 'a' is given twice"),
        ([f"rates={tmp_path / 'none'}"], f"--lookup-table: there is no file '{tmp_path / 'none'}'"),
        (["unused=/"], "--lookup-table: there is no file '/'"),
    ):
        refused = query(text, log, *(f"--lookup-table={each}" for each in values)).exception
        assert isinstance(refused, Refused)
        assert str(refused).startswith(sentence)


def test_a_filter_that_no_event_passes_gets_a_warning(log):
    done = query("filter @message like 'none' | stats count(*)", log)
    assert done.exit_code == 0
    assert done.stderr.endswith("warning: none of 3 events passed the filters\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no.cwli"], "no.cwli: this file cannot be read: No such file or directory"),
        (["limit 1", "no.log"], "no.log: this file cannot be read: No such file or directory"),
        (["limit 1"], "PATH: expected the files or folders to query, or - for standard input"),
        (["limit 1", "a.log", "--time-format", "%Q"],
         "--time-format: '%Q' is not accepted; expected %Y, %y, %m, %b, %d, %j, %H, %I,"),
        (["limit 1", "a.log", "--time-format", "*%j", "--time-field", "t"],
         "--time-format: '*%j' is of whole lines, not of --time-field; begin with a letter"),
        (["limit 1", "a.log", "--event-start", "("], "--event-start: '(' is not a regular"),
        (["limit 1", ""], "PATH: '' is empty; write . for this folder"),
        (["none.log", "limit 1"], "none.log: there is no such file; the query comes before"),
        (["logs/*", "limit 1"], "logs/*: there is no such file; the query comes before"),
        (["limit 1", "a.log", "--sorted"], "--sorted needs --start or --end"),
        (["limit 1", "a.log", "--sorted", "--start", "-1h", "--event-start", "x"],
         "--sorted is not accepted with --event-start"),
        (["-", "-"], "PATH: '-' is standard input, and so is QUERY; expected '-' once"),
        (["limit 1", "a.log", "--start", "9", "--end", "8"], "--start: 9 is after the end, 8"),
        (["limit 1", "a.log", "--start", "2026-01-02T00:00", "--end", "2026-01-01"],
         "--start: 2026-01-02T00:00 is after the end, 2026-01-01"),
    ],
)  # fmt: skip
def test_the_refusal_of_an_argument_is_one_sentence(arguments, sentence):
    refused = query(*arguments).exception
    assert isinstance(refused, Refused)
    assert str(refused).startswith(sentence)


def test_a_file_that_is_not_text_is_refused_with_its_line(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(b"a\n\xff\n")
    refused = query("limit 1", str(path), "--strict").exception
    assert isinstance(refused, Refused)
    assert str(refused) == f"--strict: 1 line with bytes that are not text: {path}, line 2"


def test_the_refusal_of_an_empty_query_is_one_sentence_without_a_caret(log):
    refused = query(" ", log).exception
    assert isinstance(refused, Refused)
    assert str(refused).startswith("query: line 1, column 1: the query is empty; ")
    assert len(str(refused).splitlines()) == 1


def test_an_empty_name_of_a_field_is_refused(log):
    refused = query("limit 1", log, "--time-field", "").exception
    assert str(refused) == "--time-field: '' is not accepted; expected the name of a JSON field"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1717338361", 1_717_338_361),
        ("1717338361999", 1_717_338_361),
        ("1717338361999000", 1_717_338_361),
        ("1717338361999000000", 1_717_338_361),
        ("-5", -5),
    ],
)
def test_a_bound_may_be_in_any_unit_of_the_epoch(text, seconds):
    assert MomentType().convert(text, None, None).seconds == seconds


def test_an_end_without_a_time_is_the_whole_day():
    bounds = [MomentType(ends=ends).convert("2024-06-02", None, None) for ends in (False, True)]
    assert [bound.seconds for bound in bounds] == [1717286400, 1717286400 + 86399]
    exact = MomentType(ends=True).convert("2024-06-02T00:00", None, None)
    assert exact.seconds == 1717286400


@pytest.mark.parametrize(
    ("lines", "warning"),
    [
        (["2024-06-02T14:26:00Z a", "x", "2024-06-02T14:27:00Z b"],
         "none of 2 events is in the time range; they are from 2024-06-02 14:26:00.000 to "
         "2024-06-02 14:27:00.000"),
        (["2024-06-02T14:26:00Z a"],
         "the only event is not in the time range; it is of 2024-06-02 14:26:00.000"),
        ([], None),
    ],
)  # fmt: skip
def test_a_time_range_without_events_gets_a_warning_with_their_times(tmp_path, lines, warning):
    path = tmp_path / "a.log"
    path.write_text("".join(f"{line}\n" for line in lines))
    done = query("stats count(*)", str(path), "--start", "-1h")
    assert done.exit_code == 0
    assert (f"warning: {warning}\n" in done.stderr) == (warning is not None)


def test_a_log_or_a_folder_in_the_place_of_the_query_is_named(log, tmp_path):
    refused = query(log, "limit 1").exception
    assert "; this file is read as a query: the query comes before the files\n" in str(refused)
    refused = query(str(tmp_path), log).exception
    assert str(refused) == f"{tmp_path}: this is a folder; the query comes before the files"


def test_a_bound_may_be_a_time_before_now(tmp_path):
    recent = tmp_path / "recent.log"
    recent.write_text(f"{datetime.now(UTC) - timedelta(minutes=90):%Y-%m-%dT%H:%M:%S}Z x\n")
    for start, end, rows in (("-2h", "-1h", "1"), ("-1h", "-0s", ""), ("-2w", "-1d", "")):
        arguments = ["--start", start, "--end", end, "--format", "csv"]
        done = query("stats count(*)", str(recent), *arguments)
        assert done.stdout.splitlines()[1:] == ([rows] if rows else [])


def test_lint_checks_every_query(tmp_path):
    good, bad, worse = (tmp_path / name for name in ("good.cwli", "bad.cwli", "worse.cwli"))
    good.write_text("limit 1")
    bad.write_text("filtre a = 1")
    worse.write_text("limit")
    done = query("--lint", str(good), str(bad), str(worse), str(good))
    assert done.stdout == f"{good}: accepted\n{good}: accepted\n"
    refused = str(done.exception)
    assert isinstance(done.exception, Refused)
    assert f"{bad}: line 1, column 1: unknown command" in refused
    assert f"\n{worse}: line 1, column 6: expected" in refused


def test_the_files_of_a_folder_that_are_not_read_are_named(log, tmp_path):
    (tmp_path / "b.png").touch()
    done = query("stats count(*)", str(tmp_path))
    assert f"warning: {tmp_path}: 1 file not read: b.png; name a file to read it\n" in done.stderr


def test_a_folder_without_access_is_named(log, tmp_path, monkeypatch):
    (tmp_path / "secret").mkdir()
    listed = os.scandir

    def refused(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", refused)
    done = query("stats count(*)", str(tmp_path))
    assert f"warning: {tmp_path}: 1 file not read: secret/; name a file to" in done.stderr


def test_a_file_without_access_below_a_folder_is_no_traceback(log, tmp_path, monkeypatch):
    hidden = tmp_path / "hidden.log"
    hidden.touch()
    stat = os.stat

    def refused(path, **options):
        if str(path) == str(hidden):
            raise PermissionError(13, "Permission denied", path)
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", refused)
    assert query("stats count(*)", str(tmp_path)).exit_code == 0


def test_the_recognised_times_are_said_if_the_query_depends_on_times(log, tmp_path):
    file = tmp_path / "b.jsonl"
    file.write_text('{"at": "2024-06-02T14:26:00Z", "ts": 1717252000}\n')
    done = query("stats count(*) by bin(1d) as day", log, str(file), "--format", "csv")
    assert "times of lines: JSON field 'ts'\n" in done.stderr
    assert f"warning: no time is found in {log}; its lines have the time of the" in done.stderr
    file.write_text('{"sent": "2024-06-02T14:26:00Z"}\n')
    done = query("stats count(*) by bin(1d)", str(file))
    hint = "the field 'sent' looks like a time, and --time-field sent reads it"
    assert f"its lines have the time of the file's last change; {hint}\n" in done.stderr
    file.write_text('{"at": "2024-06-02T14:26:00Z", "ts": 1717252000}\n')
    done = query("stats count(*) by bin(1d) as day", str(file), "--time-field", "at")
    assert "times of lines: JSON field 'at'\n" in done.stderr
    assert "2024-06-02" in done.stdout
    assert "times of lines" not in query("stats count(*)", str(file)).stderr
    assert "times of lines" in query("stats count(*)", str(file), "--start", "1").stderr
    assert "times of lines" in query("limit 1", str(file), "--explain").stderr


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstd.compress, bytes])
def test_standard_input_may_be_packed(pack):
    done = query("stats count(*)", "-", "--format", "csv", stdin=pack(LOG.encode()))
    assert done.stdout == "count(*)\n3\n"


@pytest.mark.parametrize("stdin", [LOG, gzip.compress(LOG.encode())], ids=["plain", "packed"])
def test_the_log_of_standard_input_is_stdin(stdin):
    done = query("SOURCE 'stdin' | stats count(*) by @log, @logStream", "-", stdin=stdin)
    assert done.stdout.split()[-3:-1] == ["stdin", "stdin"]


def test_standard_input_is_read_once_however_often_it_is_named():
    done = query("stats count(*)", "-", "-", "--format", "csv", stdin=LOG)
    assert done.stdout == "count(*)\n3\n"


@pytest.mark.parametrize("pack", [bytes, zstd.compress])
def test_a_pipe_is_a_path(tmp_path, pack):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = Thread(target=pipe.write_bytes, args=[pack(LOG.encode())])
    writing.start()
    done = query("stats count(*), min(@timestamp)", str(pipe), "--format", "csv")
    writing.join()
    assert done.stdout.startswith("count(*),min(@timestamp)\n3,"), done.output
    assert f"no time is found in {pipe};" in done.stderr
    assert query("limit 1", str(pipe), "--explain").exit_code == 0


def test_an_empty_file_has_no_lines_whose_times_are_missed():
    assert (
        query("limit 1", "-", stdin=b"").stderr == "0 rows; 0 of 0 events matched, 0 bytes read\n"
    )


def test_an_incomplete_packed_standard_input_is_refused():
    refused = query("limit 1", "-", stdin=bz2.compress(LOG.encode())[:20]).exception
    assert isinstance(refused, Refused)
    sentence = "standard input: this file cannot be read: Compressed file ended"
    assert str(refused).startswith(sentence)


def test_json_of_standard_input_that_ends_early_is_refused_by_its_name():
    refused = query("limit 1", "-", stdin='{"events": [{"timestamp": 1').exception
    assert 'Malformed JSON in file "standard input", at byte' in str(refused)


def test_damage_of_standard_input_has_its_name():
    done = query("limit 1", "-", "--start", "-1h", stdin=b"a\n\xff\n")
    assert "not text: standard input, line 2;" in done.stderr
    assert "no time is found in standard input;" in done.stderr


@pytest.mark.parametrize("searched_bytes", [0, 1_000_000])
def test_an_event_without_a_time_has_that_of_the_event_before_and_is_named(
    tmp_path, monkeypatch, searched_bytes
):
    monkeypatch.setattr("cwli.command.log_query._SEARCHED_BYTES", searched_bytes)
    path = tmp_path / "app.log"
    lines = ['{"ts": 1717338360, "n": 1}', '{"n": 2}', '{"ts": 1717338361, "n": 3}']
    path.write_text("\n".join(lines) + "\n")
    done = query("filter @message like '2}' | fields @timestamp", str(path), "--format", "csv")
    assert done.stdout == "@timestamp\n2024-06-02 14:26:00.000\n"
    assert f"such as in {path}: {lines[1]}" in done.stderr


@pytest.mark.parametrize("others", [[], ["START RequestId: 7"]])
def test_an_event_whose_time_has_another_form_has_this_time(tmp_path, others):
    path = tmp_path / "app.log"
    lines = ["[INFO]\t2024-06-02T14:26:00.000Z\t7\thello", "2024-06-02T14:41:02.000Z 7 Task"]
    path.write_text("\n".join([*lines, *others]) + "\n")
    done = query("stats max(@timestamp) as last", str(path), "--format", "csv")
    assert done.stdout == "last\n2024-06-02 14:41:02.000\n"
    warning = "warning: events without a time have the time of the event before, or else "
    assert (warning in done.stderr) == bool(others)


def test_what_can_be_read_of_damaged_files_is_read_and_the_rest_is_counted(tmp_path):
    (tmp_path / "bytes.log").write_bytes(b"a\n\xff\xfe b\n\xf4\x8f\xbf\xbf\nz")
    (tmp_path / "long.log").write_bytes(b"a\n" + b"x" * 2**20 + b"\nb\n")
    noise = "".join(f"{number * 7919 % 10007}\n" for number in range(9000)).encode()
    (tmp_path / "cut.log.gz").write_bytes(gzip.compress(noise)[:-2000])
    (tmp_path / "zstd.log").write_bytes(b"\x28\xb5\x2f\xfd")
    arguments = ["stats count(*) as n by @logStream", str(tmp_path), "--format", "csv"]
    done = query(*arguments)
    rows = dict(line.split(",") for line in done.stdout.splitlines()[1:])
    assert rows.keys() == {"bytes.log", "cut.log.gz", "long.log"}
    assert (rows["bytes.log"], rows["long.log"]) == ("4", "2")
    assert 0 < int(rows["cut.log.gz"]) < 9000
    for damage in (
        f"2 lines with bytes that are not text, the first: {tmp_path / 'bytes.log'}, line 2",
        f"1 line too long for an event skipped: {tmp_path / 'long.log'}, line 2",
        f"1 file cannot be read: {tmp_path / 'zstd.log'}: Compressed file ended before the "
        "end-of-stream marker was reached",
    ):
        assert f"warning: {damage}; --strict refuses such files\n" in done.stderr
    assert f"warning: 1 file ends early: {tmp_path / 'cut.log.gz'}, line " in done.stderr
    assert isinstance(query(*arguments, "--strict").exception, Refused)
    shown = query("filter @message like /b/ | display @message", str(tmp_path), "--format", "csv")
    assert "\ufffd\ufffd b" in shown.stdout


TRACE = "2024-06-02T14:26:00Z ERROR\nTraceback\nValueError: x\n2024-06-02T14:26:01Z INFO\n"


@pytest.mark.parametrize("arguments", [[], ["--strict"]])
def test_the_lines_of_a_stack_trace_are_one_event_with_its_time(tmp_path, arguments):
    path = tmp_path / "a.log"
    path.write_text(TRACE)
    text = "filter @message like /ValueError/ | display @timestamp, @message"
    done = query(text, str(path), "--format", "json", *arguments)
    (row,) = json.loads(done.stdout)
    assert row["@timestamp"] == "2024-06-02 14:26:00.000"
    assert row["@message"] == "2024-06-02T14:26:00Z ERROR\nTraceback\nValueError: x"
    assert "lines joined to the event before: 2\n" in done.stderr
    assert "1 row; 1 of 2 events matched" in done.stderr
    assert query("stats count(*)", str(path), "--format", "csv").stdout == "count(*)\n2\n"


def test_the_first_line_of_an_event_may_be_named(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("== é\n1\n2\n== b\n3\n")
    done = query("display @message", str(path), "--event-start", "^== \\S$", "--format", "json")
    assert [row["@message"] for row in json.loads(done.stdout)] == ["== é\n1\n2", "== b\n3"]
    event = tmp_path / "b.json"
    event.write_text('{"timestamp": 1, "message": "m"}\n{"timestamp": 2, "message": "m"}\n')
    done = query("stats count(*)", str(event), "--event-start", "^==", "--format", "csv")
    assert done.stdout == "count(*)\n2\n"


@pytest.mark.parametrize("begins", [(), ("--event-start", "^x")])
def test_files_that_cannot_be_read_are_refused_with_the_reason(tmp_path, begins):
    path = tmp_path / "logs.zip"
    with ZipFile(path, "w") as packed:
        packed.writestr("a.log", LOG)
    done = query("stats count(*)", str(path), *begins)
    assert isinstance(done.exception, Refused), done.output
    assert str(path) in str(done.exception)


def test_a_text_is_as_it_was_if_no_file_has_a_copy():
    assert named_as_given("a text", {Path("a.log"): None}) == "a text"


def test_a_line_that_is_no_text_may_begin_an_event(tmp_path, monkeypatch):
    monkeypatch.setattr("cwli.command.log_query._SEARCHED_BYTES", 1)
    path = tmp_path / "a.log"
    path.write_bytes(b"== a\nneedle\n== \xff\n")
    text = "filter @message like 'needle' | display @message"
    done = query(text, str(path), "--event-start", "^==", "--format", "json")
    assert [row["@message"] for row in json.loads(done.stdout)] == ["== a\nneedle"]


def test_a_query_for_a_text_searches_a_large_file_and_says_what_it_found(log, monkeypatch):
    monkeypatch.setattr("cwli.command.log_query._SEARCHED_BYTES", 1)
    done = query("filter @message like /rate=2/ | display @message, speed", log, "--format", "csv")
    assert done.stdout == "@message,speed\nrate=2.5,\n"
    assert "1 row; 1 event matched, 24 bytes read\n" in done.stderr
    assert "warning: no event that may pass the filters has a field 'speed'\n" in done.stderr
    done = query("filter @message like 'rate=3' | display @message", log, "--format", "csv")
    assert "0 rows; 0 events matched, 24 bytes read\n" in done.stderr
    assert "warning: no event passed the filters\n" in done.stderr


def test_a_strict_query_for_a_text_refuses_a_file_that_is_damaged_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr("cwli.command.log_query._SEARCHED_BYTES", 1)
    path = tmp_path / "a.log"
    path.write_bytes(LOG.encode() + b"\xff\n")
    arguments = ["filter @message like 'rate=' | stats count(*) as n", str(path), "--format", "csv"]
    assert query(*arguments, "--strict").exception
    assert query(*arguments).stdout == "n\n2\n"


@pytest.fixture
def hours(tmp_path, monkeypatch):
    """Change to the folder of a log of an hour, with a line each second."""
    monkeypatch.setattr("cwli.command.log_query._SEARCHED_BYTES", 1)
    monkeypatch.chdir(tmp_path)
    begin = datetime(2026, 1, 2, 3, tzinfo=UTC)
    times = ((begin + timedelta(seconds=second)).isoformat() for second in range(3600))
    path = tmp_path / "hour.log"
    path.write_text("".join(f"{time} line {'x' * 500}\n" for time in times))
    return path


OF_SORTED = ("--sorted", "--start", "2026-01-02T03:10", "--end", "2026-01-02T03:10:09")


def test_of_a_sorted_file_only_a_part_is_read(hours):
    done = query("stats count(*) as n by @log", "hour.log", "--format", "csv", *OF_SORTED)
    assert done.stdout == "@log,n\nhour.log,10\n"
    read, size = re.search(r"--sorted: ([\d,]+) of ([\d,]+) bytes are read", done.stderr).groups()
    assert size == f"{hours.stat().st_size:,}"
    assert f"10 of 10 events matched, {read} bytes read" in done.stderr
    assert int(read.replace(",", "")) < hours.stat().st_size / 5


@pytest.mark.parametrize("name", ["{folder}/hour.log", "../{folder.name}/hour.log"])
def test_a_part_has_the_name_of_its_file(hours, name):
    path = name.format(folder=hours.parent)
    done = query("stats count(*) as n by @log, @logStream", path, "--format", "csv", *OF_SORTED)
    assert done.stdout == f"@log,@logStream,n\n{path},hour.log,10\n"


def test_a_source_names_a_sorted_file(hours):
    text = f"SOURCE '../{hours.parent.name}/hour.log' | stats count(*) as n"
    path = f"../{hours.parent.name}/hour.log"
    assert query(text, path, "--format", "csv", *OF_SORTED).stdout == "n\n10\n"


def test_sorted_files_of_one_name_are_two_files(hours):
    (hours.parent / "a b" / ("x" * 250)).mkdir(parents=True)
    (hours.parent / "link").symlink_to("a b")
    others = ["link/../hour.log", f"a b/{'x' * 250}/hour.log", f"{hours.parent}/a b/hour.log"]
    for other in others:
        (hours.parent / other).write_text(hours.read_text())
    paths = ["hour.log", *others]
    done = query("stats count(*) as n by @log", *paths, "--format", "csv", *OF_SORTED)
    assert sorted(done.stdout.splitlines()) == sorted(["@log,n", *(f"{p},10" for p in paths)])


def test_a_damaged_file_beside_a_sorted_one_is_left_out(hours):
    (hours.parent / "hour.log.gz").write_bytes(gzip.compress(hours.read_bytes())[:-9])
    done = query("stats count(*) as n", ".", "--format", "csv", *OF_SORTED)
    assert (done.exit_code, done.stdout) == (0, "n\n20\n")
    assert "1 file ends early" in done.stderr


def test_a_part_is_searched_for_a_text(hours):
    text = "filter @message like '03:10:05' | stats count(*) as n by @log"
    done = query(text, "hour.log", "--format", "csv", *OF_SORTED)
    assert done.stdout == "@log,n\nhour.log,1\n"


def test_the_ranges_that_a_query_compares_are_read(hours):
    diff = "pattern @message | diff previousDay | display @pattern, @sampleCount"
    arguments = [diff, "hour.log", "--format", "csv", "--start", "2026-01-03T03:50"]
    arguments += ["--end", "2026-01-03T03:55"]
    whole, part = query(*arguments), query(*arguments, "--sorted")
    assert (part.exit_code, part.stdout) == (0, whole.stdout)
    assert len(part.stdout.splitlines()) == 2


def test_a_file_that_is_not_sorted_is_refused_by_its_name(hours):
    lines = hours.read_text().splitlines(keepends=True)
    hours.write_text("".join(lines[1800:] + lines[:1800]))
    refused = query("stats count(*)", "hour.log", *OF_SORTED).exception
    assert isinstance(refused, Refused)
    assert str(refused).startswith("hour.log: the event at byte ")


def test_standard_input_is_sorted_and_read_whole(hours):
    arguments = ["stats count(*) as n by @log", "-", "--format", "csv", *OF_SORTED]
    assert query(*arguments, stdin=hours.read_text()).stdout == "@log,n\nstdin,10\n"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (json.dumps({"StackEvents": [{"EventId": "1"}, {"EventId": "2"}]}, indent=4),
         "it is one JSON object, and one event; `jq -c '.StackEvents[]'` makes events of the "
         "list 'StackEvents' in it"),
        (json.dumps({"n": 7, "detail-list": [{"a": 1}]}),
         "it is one JSON object, and one event; `jq -c '.\"detail-list\"[]'` makes events of "
         "the list 'detail-list' in it"),
        ("time,level,msg\n2024-06-02T14:26:00Z,INFO,a\n2024-06-02T14:26:01Z,INFO,b\n",
         "its first line, which names columns, is an event"),
        ('"id","name"\n"1","A"\n"2","B, c"\n', "its first line, which names columns, is an event"),
    ],
)  # fmt: skip
def test_what_a_file_has_as_events_is_said(tmp_path, text, note):
    path = tmp_path / "events"
    path.write_text(text)
    assert f"warning: {path}: {note}\n" in query("stats count(*)", str(path)).stderr
    (tmp_path / "other.log").write_text(text)
    both = query("stats count(*)", str(tmp_path)).stderr
    assert f"warning: {path}: {note}; other such files: 1\n" in both


@pytest.mark.parametrize(
    "text",
    [
        '{"time": "2024-06-02T14:26:00Z", "errors": [{"code": 7}]}\n',
        '{"items": [{"a": 1}]}\n{"items": [{"a": 2}]}\n',
        '{"items": []}\n',
        "starting,now\nstopping,now\nended,now\n",
        "Hello, world\n1, 2\n3, 4\n",
        "id,name\n",
    ],
)
def test_of_other_files_nothing_is_said(tmp_path, text):
    path = tmp_path / "events.log"
    path.write_text(text)
    assert "warning" not in query("stats count(*)", str(path)).stderr


DELIVERED = {
    "messageType": "DATA_MESSAGE", "owner": "111122223333", "logGroup": "/aws/lambda/a",
    "logStream": "s", "logEvents": [{"id": "1", "timestamp": 1_717_338_360_000, "message": "a b"}],
}  # fmt: skip


@pytest.fixture
def delivery(tmp_path):
    path = tmp_path / "delivery.json"
    other = DELIVERED | {"owner": "444455556666", "logGroup": "b"}
    path.write_text(json.dumps(DELIVERED) + json.dumps(other))
    return str(path)


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("'/aws/lambda/a'", ["111122223333:/aws/lambda/a,1"]),
        ("logGroups(namePrefix: ['b'])", ["444455556666:b,1"]),
        ("'{log}', 'b'", ["{log},3", "444455556666:b,1"]),
    ],
)
def test_source_names_the_log_groups_that_events_name(log, delivery, source, rows):
    text = f"SOURCE {source} | stats count(*) as n by @log | sort n desc".format(log=log)
    done = query(text, log, delivery, "--format", "csv")
    assert done.stdout.splitlines() == ["@log,n", *(row.format(log=log) for row in rows)]


def test_a_source_that_no_event_names_is_refused(delivery):
    refused = query(f"SOURCE '{delivery}' | stats count(*)", delivery).exception
    assert isinstance(refused, Refused)
    assert str(refused).endswith("; there are /aws/lambda/a, b")


def test_a_path_with_a_colon_is_a_source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b.log").write_text(LOG)
    done = query("SOURCE 'a:b.log' | stats count(*) as n", "a:b.log", "--format", "csv")
    assert done.stdout == "n\n3\n"


def test_a_file_of_another_form_is_refused_and_in_a_folder_left_out(log, tmp_path):
    path = tmp_path / "pages.txt"
    path.write_bytes(b"%PDF-1.7 rate=9")
    refused = query("stats count(*)", str(path)).exception
    assert isinstance(refused, Refused)
    assert str(refused) == f"{path}: this file cannot be read: it is a PDF"
    done = query("stats count(*) as n", str(tmp_path), "--format", "csv")
    assert done.stdout == "n\n3\n"
    warning = f"warning: 1 file cannot be read: {path}: it is a PDF; --strict refuses such files\n"
    assert warning in done.stderr
    assert isinstance(query("stats count(*)", str(tmp_path), "--strict").exception, Refused)


def test_an_error_of_a_copy_names_its_file(tmp_path):
    path = tmp_path / "a.json.bz2"
    events = [{"timestamp": 1, "message": "m"}, {"timestamp": "x", "message": "m"}]
    path.write_bytes(bz2.compress(json.dumps({"events": events}).encode()))
    refused = query("stats count(*)", str(path)).exception
    assert isinstance(refused, Refused)
    assert f'"{path}"' in str(refused)


UNNEEDED = {
    "concurrent.futures", "decimal", "difflib", "duckdb", "hashlib", "rich", "yaml", "zoneinfo",
}  # fmt: skip
PROGRAM = """
import sys
from cwli.insights import EventSource, run
from cwli import command
run("fields @message | stats count(*) by bin(1m)", EventSource.union([]))
print(*sys.modules)
"""


def test_a_query_over_files_loads_neither_duckdbs_wrappers_nor_the_libraries_of_other_commands():
    program = [sys.executable, "-c", PROGRAM]
    loaded = subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()
    assert not UNNEEDED & set(loaded)
