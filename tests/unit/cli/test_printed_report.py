"""A report on a terminal."""

from itertools import pairwise

import pytest

from tidemark.cli.all_option import print_lines
from tidemark.cli.printed_report import most_lines, screen_lines
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

    print_lines("a\nb\nc", str.splitlines, everything=False, most=most_lines())
    assert capsys.readouterr().out == "a\nb\n\n--all prints 1 more line.\n"


def test_everything_has_no_last_line_about_more(capsys):
    print_lines(REPORT, str.splitlines, everything=True, most=1)
    assert capsys.readouterr().out == REPORT
