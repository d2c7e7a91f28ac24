"""Lines of bars below the table of a query over time."""

import pytest
from click.testing import CliRunner

from cwli.command import command
from cwli.formats import lines_of_bars


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
