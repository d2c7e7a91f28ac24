"""A report on a terminal."""

import io
from itertools import pairwise

import pytest
from rich.console import Console

from tidemark.cli.show import first_screen, print_comparison, print_lines, print_run
from tidemark.report.blocks import Bullets, Command, Details, Report, Row, Section, Table
from tidemark.report.markdown import markdown
from tidemark.report.terminal import print_blocks, screen_lines

ROWS = (Row(("latency of a very long operation", "▼ slower")), Row(("rate", "? cannot tell"), True))
TABLE = Table("Changes", ("Metric", "Verdict"), ROWS)
REPORT = Report(
    "RocksDB",
    ("▼ slower: a; = same: b.",),
    (
        Section("Comments", (TABLE,), evidence=True),
        Section("Trials", (Bullets(("one", "two\nlines")),), details=True),
    ),
)


@pytest.fixture
def drawn(monkeypatch):
    def drawn(report=REPORT, **variables):
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm", "COLUMNS": "80", **variables}.items():
            monkeypatch.setenv(name, value)
        return "\n".join(screen_lines(report, Console(highlight=False)))

    return drawn


def test_verdicts_are_coloured_on_a_terminal(drawn):
    text = drawn(FORCE_COLOR="1")

    assert "\x1b[1;31m▼ slower\x1b[0m: a; = same: b." in text
    assert "\x1b[9;33m? cannot tell" in text


def test_without_colours_the_marks_stay(drawn):
    text = drawn(NO_COLOR="1")

    assert "▼ slower: a; = same: b." in text
    assert "? cannot tell" in text
    assert "\x1b[3" not in text


def test_parts_have_an_empty_line_between_them(drawn):
    lines = drawn(NO_COLOR="1").splitlines()

    assert "RocksDB" in lines[0]
    assert not any(one == two == "" for one, two in pairwise(lines))
    assert lines[-2:] == [" • one", " • two lines"]


def test_columns_break_between_words_and_no_line_begins_with_a_percent_sign():
    columns = ("Metric", "Verdict", "95 % interval", "Mean of 11.7", "Mean of 12.4")
    cells = ("a very long name of a metric", "▲ faster", "+16.86 % to +17.86 %", "8,552", "9,994")
    table = Table("", columns, (Row(cells),), frozenset(columns[2:]))
    console = Console(width=49, highlight=False, file=io.StringIO())

    print_blocks([table], console)

    assert [line.split() for line in console.file.getvalue().splitlines()[3:]] == [
        ["Verdict", "95", "%", "Mean", "of", "Mean", "of"],
        ["interval", "11.7", "12.4"],
        [*cells[0].split()],
        ["▲", "faster", "+16.86", "%", "to", "8,552", "9,994"],
        ["+17.86", "%"],
    ]


def test_a_table_that_is_too_wide_has_the_name_of_each_row_above_it(drawn):
    lines = drawn(NO_COLOR="1", COLUMNS="24").splitlines()

    start = lines.index("Changes")
    assert lines[start + 2 : start + 9] == [
        "Metric", "  Verdict", "latency of a very long", "operation", "  ▼ slower", "rate",
        "  ? cannot tell",
    ]  # fmt: skip


def test_a_table_without_room_for_its_other_columns_has_rows_of_several_lines(drawn):
    wide = Table("Paths", ("Name", "One", "Other"), (Row(("a", "1" * 30, "2" * 30)),))

    lines = drawn(Report("", (wide,), ()), COLUMNS="30").splitlines()

    assert all(len(line) <= 30 for line in lines)
    assert sum(line.count("1") for line in lines) == sum(line.count("2") for line in lines) == 30


def test_control_characters_are_shown_and_not_sent(drawn):
    assert drawn(Report("", ("a\x1b[2Jb",), ())) == "a\\u001b[2Jb"


def test_the_last_line_has_the_number_of_hidden_lines_and_the_option_that_prints_them(capsys):
    print_lines(["a", "b", "c"], ["a"], everything=False)

    assert capsys.readouterr().out == "a\n\n--all prints 2 more lines.\n"


def test_everything_has_no_last_line_about_more(capsys):
    print_lines(["a", "b"], ["a"], everything=True)

    assert capsys.readouterr().out == "a\nb\n"


def test_a_program_gets_the_results_of_a_run_as_text_without_escapes(capsys):
    started = Table("Run", ("Started [UTC]",), (Row(("a | b",)),))
    named = Details("How to read", ("_c_",))
    print_run(Report("x", (), (Section("Results", (started, named)),)), everything=True)

    text = capsys.readouterr().out
    assert "| Started [UTC] |\n|---|\n| a \\| b |\n\n**How to read**\n\n_c_\n" in text


def test_a_program_gets_a_comparison_with_its_folds_on_request_alone(capsys):
    whole = markdown(REPORT)

    print_comparison(whole, REPORT, everything=True)
    assert capsys.readouterr().out == whole
    print_comparison(whole, REPORT, everything=False)
    text = capsys.readouterr().out
    assert "## Comments\n\n**Changes**" in text
    assert "Trials" not in text


@pytest.mark.parametrize(("lines", "tables"), [(16, 2), (13, 0)])
def test_the_first_screen_has_the_answer_and_the_rates_if_they_fit(monkeypatch, lines, tables):
    monkeypatch.setenv("LINES", str(lines))
    monkeypatch.setenv("COLUMNS", "80")
    rates = Table("Rates", ("Metric",), (Row(("1 records/s",)), Row(("2 records/s",))))
    report = Report(
        "x",
        ("= 2 same.", Bullets(("same", "same")), "Measure again"),
        (Section("Results", ("Chart", rates)), Section("Failures", ("none",))),
    )

    shown = first_screen(report, Console())

    assert [line.strip() for line in shown[:4]] == ["= 2 same.", "", "• same", "• same"]
    assert sum("records/s" in line for line in shown) == tables
    assert len(shown) <= lines - 5
    assert not any("Chart" in line for line in shown)
    assert any("Measure again" in line for line in shown) == (not tables)


def test_a_command_stands_between_its_reason_and_what_to_expect(drawn):
    step = Command("Measure again", "tidemark run rocksdb", "It takes about 2 min.")

    lines = drawn(Report("x", (step,), ())).splitlines()

    told = [line for line in lines if line][1:]
    assert told == ["Measure again:", "  tidemark run rocksdb", "It takes about 2 min."]
