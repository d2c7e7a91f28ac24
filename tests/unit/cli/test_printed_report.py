"""A report on a terminal."""

from functools import partial
from itertools import pairwise

import pytest

from tidemark.cli.all_option import print_lines
from tidemark.cli.printed_report import first_screen, screen_lines
from tidemark.report.folds import EVIDENCE, fold

TABLE = "| A |\n|---|\n| ? cannot tell |"
TEXT = f"# RocksDB\n\n▼ slower: a; = same: b.\n\n{fold(EVIDENCE, TABLE)}\n"


@pytest.fixture
def printed(monkeypatch):
    def printed(**variables):
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm", "COLUMNS": "80", **variables}.items():
            monkeypatch.setenv(name, value)
        return "\n".join(screen_lines(TEXT))

    return printed


def test_verdicts_are_coloured_on_a_terminal(printed):
    text = printed(FORCE_COLOR="1")

    assert "\x1b[1;31m▼ slower\x1b[0m: a; = same: b." in text
    assert "\x1b[33m? cannot tell" in text


def test_without_colours_the_marks_stay(printed):
    text = printed(NO_COLOR="1")

    assert "▼ slower: a; = same: b." in text
    assert "? cannot tell" in text
    assert "details>" not in text
    assert "\x1b[3" not in text


def test_no_empty_line_is_first_or_follows_another(printed):
    lines = printed(NO_COLOR="1").splitlines()

    assert "RocksDB" in lines[0]
    assert not any(one == two == "" for one, two in pairwise(lines))


REPORT = f"# Title\n\n- slower\n\n{fold(EVIDENCE, TABLE)}\n\n## Trials\n\n{fold('3', 'a')}\n"


def test_the_last_line_has_the_number_of_folded_lines_and_the_option_that_prints_them(capsys):
    print_lines(REPORT, str.splitlines, everything=False)

    *shown, empty, last = capsys.readouterr().out.splitlines()
    assert shown[-1] == "| ? cannot tell |"
    assert (empty, last) == (
        "",
        f"--all prints {len(REPORT.splitlines()) - len(shown)} more lines.",
    )


def test_a_report_is_cut_to_the_height_of_the_screen(capsys, monkeypatch):
    monkeypatch.setenv("LINES", "7")
    monkeypatch.setenv("COLUMNS", "80")

    print_lines(
        "a\n\nb\n\nc", screen_lines, everything=False, brief=partial(first_screen, rates=[])
    )
    assert capsys.readouterr().out == "a\n\n\n--all prints 3 more lines.\n"


@pytest.mark.parametrize(("lines", "tables"), [(17, 2), (16, 0)])
def test_the_first_screen_has_the_answer_and_the_rates_if_they_fit(monkeypatch, lines, tables):
    monkeypatch.setenv("LINES", str(lines))
    monkeypatch.setenv("COLUMNS", "80")
    rate = {"unit": "records/s", "samples": 9, "spread": 1.5, "value": 700.0, "change": None}
    rate["baseline"] = None
    rates = [
        {**rate, "metric": metric, "version": version}
        for metric in ("ingest_rate", "compaction_rate")
        for version in ("9.0.0", "9.8.4")
    ]

    text = "- same\n- same\n\nMeasure again\n\n## Results\n\nTable\n\n## Failures\n\n- none\n"
    shown = first_screen(text, rates)

    assert [line.strip() for line in shown[:2]] == ["• same", "• same"]
    assert sum("records/s" in line for line in shown) == tables
    assert len(shown) <= lines - 5
    assert not any("Table" in line for line in shown)
    assert any("Measure again" in line for line in shown) == (not tables)


def test_everything_has_no_last_line_about_more(capsys):
    print_lines(REPORT, str.splitlines, everything=True)
    assert capsys.readouterr().out == REPORT
