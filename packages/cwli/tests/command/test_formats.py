"""Rows that are printed for people."""

import csv
import json
import sys

import pytest
from click.testing import CliRunner

from cwli.command import command
from cwli.formats import lines_of_bars, show

RUN = "20261121T030526Z-cd1d65"
NOTE = "does 9.8 ingest faster than before, and how sure are we of that after so few trials?"
ROWS = [
    {"run_id": RUN, "note": NOTE, "mean": "1,234.5", "rate": "9.5 ± 0.1 (3 trials)"},
    {"run_id": RUN, "note": None, "mean": None, "rate": "10.5"},
]


@pytest.fixture
def screen(monkeypatch, capsys):
    """Return a function that prints rows on a terminal of a width and returns the lines."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("LINES", "25")

    def screen(width, columns, rows):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        show(columns, rows, "table")
        return capsys.readouterr().out.splitlines()

    return screen


def test_numbers_are_aligned_right_even_if_one_is_missing(capsys):
    show(["mean", "version"], [{"mean": "1.5"}, {"mean": "1,234.5", "version": "9.8.4"}], "table")

    rows = [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert rows[0] == "    mean  version"
    assert rows[2:] == ["     1.5", " 1,234.5  9.8.4"]


@pytest.mark.parametrize("number", ["734 k ± 22 k (3 trials)", "−7 %", "12/12", "1.86 M"])
def test_a_number_with_a_prefix_a_sign_or_a_whole_is_aligned_right(capsys, number):
    show(["rate"], [{"rate": number}, {"rate": "5" * 30}], "table")

    assert f"{number:>30}" in capsys.readouterr().out


def test_csv_quotes_a_value_with_a_comma(capsys):
    show(["a", "b"], [{"a": "1,2", "b": None}], "csv")

    assert capsys.readouterr().out == 'a,b\n"1,2",\n'


def test_ndjson_has_one_object_on_each_line(capsys):
    show(["a", "b"], [{"a": "1\n2", "b": None}, {"a": "\x1b", "c": "other"}], "ndjson")

    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"a": "1\n2", "b": None},
        {"a": "\x1b", "b": None},
    ]


@pytest.mark.parametrize("form", ["table", "csv"])
def test_control_characters_and_characters_of_direction_are_shown_as_escapes(form, capsys):
    show(["a"], [{"a": "\x1b[2Jgone \u202eright\x9b"}], form)

    output = capsys.readouterr().out.replace("\\\\", "\\").replace("\\[", "[")
    assert r"\u001b[2Jgone \u202eright\u009b" in output


def test_control_characters_in_json_are_escaped_and_mean_the_same(capsys):
    show(["a"], [{"a": "\x1b\x9b\u202e"}], "json")

    output = capsys.readouterr().out
    assert output.replace("\n", "").isascii()
    assert json.loads(output) == [{"a": "\x1b\x9b\u202e"}]


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "--5"])
def test_a_spreadsheet_runs_no_cell_of_csv(cell, capsys):
    show(["a"], [{"a": cell}], "csv")

    (_, (written,)) = csv.reader(capsys.readouterr().out.splitlines())
    assert written == f"'{cell}"


def test_numbers_in_csv_stay_numbers(capsys):
    numbers = ["-", "-5", "+5.17%", "-1.5e-07", "695,700.7", "0"]
    show(["a"], [{"a": number} for number in numbers], "csv")

    assert [row[0] for row in csv.reader(capsys.readouterr().out.splitlines())][1:] == numbers


def test_a_program_gets_each_row_on_one_line(capsys):
    show(list(ROWS[0]), ROWS, "table")

    assert sum(NOTE in line for line in capsys.readouterr().out.splitlines()) == 1


def test_a_screen_folds_text_but_no_id(screen):
    lines = screen(100, list(ROWS[0]), ROWS)

    assert max(map(len, lines)) <= 100
    assert sum(RUN in line for line in lines) == 2
    assert not any(NOTE in line for line in lines)


@pytest.mark.parametrize("width", [40, 80])
def test_a_narrow_screen_folds_everything_and_loses_nothing(screen, width):
    columns = [f"c{number}" for number in range(5)]
    rows = [{column: f"{RUN}{column}" for column in columns}]

    lines = screen(width, columns, rows)

    assert max(map(len, lines)) <= width
    printed = sorted(character for line in lines for character in line if character.isalnum())
    assert printed == sorted(c for c in "".join([*columns, *rows[0].values()]) if c.isalnum())


def rows(*pairs):
    return [{"bin": f"2024-06-02 14:{minute:02}:00.000", "n": n} for minute, n in pairs]


@pytest.mark.parametrize(
    ("pairs", "lines"),
    [
        ([(1, "7"), (0, "0"), (3, "3.5")], ["n: ▁█ ▅ from 0 to 7"]),
        ([(0, "-1"), (1, "1")], ["n: ▁█ from -1 to 1"]),
        ([(0, "0"), (1, "0")], ["n: ▁▁ from 0 to 0"]),
        ([(0, "a"), (1, "1")], []),
        ([(0, "1"), (1, "nan")], []),
        ([(0, "-1e308"), (1, "1e308")], []),
        ([(0, "5e-324"), (1, "0")], ["n: █▁ from 0 to 4.94066e-324"]),
        ([(0, "1")], []),
        ([(0, "1"), (0, "2")], []),
        ([], []),
    ],
)
def test_each_bin_has_a_bar_and_a_bin_without_a_row_has_none(pairs, lines):
    assert lines_of_bars(["bin", "n"], rows(*pairs)) == lines


def test_only_a_result_over_some_bins_has_bars():
    assert not lines_of_bars(["bin", "n"], [{"bin": "a", "n": "1"}, {"bin": "b", "n": "2"}])
    far = [*rows((0, "1"), (1, "1")), {"bin": "2024-06-03 14:00:00.000", "n": "1"}]
    assert not lines_of_bars(["bin", "n"], far)
    assert not lines_of_bars([], [])
    assert not lines_of_bars(
        ["@timestamp", "n"], [{**row, "@timestamp": row["bin"]} for row in far]
    )


def test_the_bars_of_a_table_stand_on_standard_error(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("".join(f"2024-06-02T14:2{minute}:00Z\n" for minute in "0114"))
    arguments = ["stats count(*) as n by bin(1m)", str(log)]
    assert "n: ▅█  ▅ from 0 to 2\n" in CliRunner().invoke(command, arguments).stderr
    assert "▅" not in CliRunner().invoke(command, [*arguments, "--format", "csv"]).output
