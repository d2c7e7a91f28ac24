"""The table of ``tidemark history`` on a narrow terminal."""

import pytest

from tidemark.cli.history import is_too_wide, print_by_figure

NAMES = ["Version number", "Test date", "Latency {operation: create} (ms)", "Rate (records/s)"]
ROWS = [
    dict(zip(NAMES, ("9.0.0", "2026-11-20", "20.60 ± 0.32", "366000"), strict=True)),
    dict(zip(NAMES, ("9.8.4", "2026-11-27", "21.60 ± 0.30", ""), strict=True)),
]


@pytest.mark.parametrize(("columns", "expected"), [("80", False), ("40", True)])
def test_a_table_is_too_wide_if_the_terminal_would_break_its_words(monkeypatch, columns, expected):
    monkeypatch.setenv("COLUMNS", columns)

    assert is_too_wide(NAMES, ROWS) == expected


def test_each_figure_has_its_versions_below_its_name(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "48")

    print_by_figure(NAMES, ROWS)

    assert [line.split() for line in capsys.readouterr().out.splitlines()[3:]] == [
        ["Version", "number", "Test", "date", "Rate"],
        ["Latency", "{operation:", "create}", "(ms)"],
        ["9.0.0", "2026-11-20", "20.60", "±", "0.32"],
        ["9.8.4", "2026-11-27", "21.60", "±", "0.30"],
        ["Rate", "(records/s)"],
        ["9.0.0", "2026-11-20", "366000"],
    ]
