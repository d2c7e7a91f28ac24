"""The mistakes of a newcomer that ``docs/mistakes.md`` lists, each made once."""

import re
import shlex
import sys

import pytest

from tidemark import cli
from tidemark.model.checkout import ROOT

PAGE = (ROOT / "docs" / "mistakes.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|\n ").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| `")
]
TYPED = [row for row in ROWS if len(row) == 2]
WRITTEN = [row for row in ROWS if len(row) == 3]


@pytest.fixture(autouse=True)
def suite(tmp_path, monkeypatch):
    """Return the file of a new suite in a folder without results."""
    monkeypatch.setenv("TIDEMARK_SYSTEMS", str(tmp_path))
    monkeypatch.setenv("TIDEMARK_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    told("tidemark suite new sorted")
    return tmp_path / "suites" / "sorted" / "suite.yaml"


def told(line, capsys=None):
    """Run a command line in this process; return its last sentences."""
    arguments = sys.argv
    sys.argv = shlex.split(line)
    try:
        cli.main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = arguments
    if capsys is None:
        return ""
    output = capsys.readouterr()
    assert code == 2, output
    assert "Traceback" not in output.err
    return output.err.removeprefix("tidemark: ").strip()


def assert_told(sentence, expected):
    pattern = ".*".join(map(re.escape, expected.split("…")))
    assert re.fullmatch(pattern, sentence), sentence


def test_twenty_five_mistakes_or_more_are_listed():
    assert len({tuple(row[:-1]) for row in ROWS}) >= 25


@pytest.mark.parametrize(("command", "expected"), TYPED)
def test_a_mistake_on_the_command_line_has_one_sentence_with_the_next_step(
    capsys, command, expected
):
    capsys.readouterr()
    assert_told(told(command.strip("`"), capsys), expected)


@pytest.mark.parametrize(("right", "wrong", "expected"), WRITTEN)
def test_a_mistake_in_a_suite_has_one_sentence_with_its_line(capsys, suite, right, wrong, expected):
    text = suite.read_text()
    right, wrong = right.strip("`"), wrong.strip("`")
    line = text[: text.index(right)].count("\n") + 1
    suite.write_text(text.replace(right, wrong, 1))
    capsys.readouterr()

    place, sentence = told("tidemark suite check sorted", capsys).split(": ", maxsplit=1)

    assert place.rpartition(":")[0] == "sorted/suite.yaml"
    assert abs(int(place.rpartition(":")[2]) - line) <= 3  # a missing field has its parent's line
    assert_told(sentence, expected)
