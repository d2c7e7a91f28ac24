"""Tables of commands on a narrow terminal, and that of ``tidemark history``."""

import sys

import pytest

from tidemark.cli.history import print_by_figure
from tidemark.cli.saving import is_too_wide, show

NAMES = ["Version number", "Test date", "Latency {operation: create} (ms)", "Rate (records/s)"]
ROWS = [
    dict(zip(NAMES, ("9.0.0", "2026-11-20", "20.60 ± 0.32", "366000"), strict=True)),
    dict(zip(NAMES, ("9.8.4", "2026-11-27", "21.60 ± 0.30", ""), strict=True)),
]


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that makes the output a terminal of some columns."""

    def of_width(columns, *, is_terminal=True):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)

    return of_width


@pytest.mark.parametrize(
    ("columns", "is_terminal", "expected"),
    [(80, True, False), (40, True, True), (40, False, False)],
)
def test_a_table_is_too_wide_if_a_terminal_would_break_its_words(
    terminal, columns, is_terminal, expected
):
    terminal(columns, is_terminal=is_terminal)

    assert is_too_wide(NAMES, ROWS) == expected


def test_a_row_of_a_table_that_is_too_wide_has_its_first_cell_above_it(terminal, capsys):
    terminal(40)
    function = "CompactionOutputs::AddToOutput"
    row = {"Function": function, "2022-03-07 (%)": "1.46", "2023-05-29 (%)": "5.43"}

    show(list(row), [row], "table")

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[-2:] == [[function], ["1.46", "5.43"]]


def test_each_figure_has_its_versions_below_its_name(terminal, capsys):
    terminal(48, is_terminal=False)

    print_by_figure(NAMES, ROWS)

    assert [line.split() for line in capsys.readouterr().out.splitlines()[3:]] == [
        ["Version", "number", "Test", "date", "Value"],
        ["Latency", "{operation:", "create}", "(ms)"],
        ["9.0.0", "2026-11-20", "20.60", "±", "0.32"],
        ["9.8.4", "2026-11-27", "21.60", "±", "0.30"],
        ["Rate", "(records/s)"],
        ["9.0.0", "2026-11-20", "366000"],
    ]
