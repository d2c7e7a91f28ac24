"""A report on a terminal."""

import pytest

from tidemark.cli.printed_report import print_report
from tidemark.report.folds import EVIDENCE, fold

TABLE = "| A |\n|---|\n| ? cannot tell |"
TEXT = f"# RocksDB\n\n▼ slower: a; = same: b.\n\n{fold(EVIDENCE, TABLE)}\n"


@pytest.fixture
def printed(monkeypatch, capsys):
    def printed(**variables):
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm", "COLUMNS": "80", **variables}.items():
            monkeypatch.setenv(name, value)
        print_report(TEXT)
        return capsys.readouterr().out

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
