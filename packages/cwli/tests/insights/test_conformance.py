from pathlib import Path

import pytest

from cwli.insights.commands import COMMANDS, REFUSED
from cwli.insights.functions import FUNCTIONS


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("commands", {read: name for name, read in reversed(COMMANDS.items())}.values()),
        ("functions", {id(each): name for name, each in reversed(FUNCTIONS.items())}.values()),
        ("refused by name", REFUSED.keys()),
    ],
)
def test_the_conformance_page_counts_and_names_commands_and_functions(title, names):
    page = (Path(__file__).parents[2] / "conformance.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| {title} |"))
    _, _, number, listed, _ = row.split("|")
    assert int(number) == len(names)
    assert sorted(listed.strip().replace("`", "").split(", ")) == sorted(names)
