"""``tidemark import`` of pages with a column for each version, and the comparison of both."""

import re

import pytest
from click.testing import CliRunner

from tidemark.cli import compare, history, import_figures
from tidemark.model.checkout import ROOT

PAGE = (ROOT / "docs" / "import.md").read_text(encoding="utf-8")
PUBLISHED, CHANGES = re.findall(r"^```markdown\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
# Mattermost's comparison of 9.5.1 with 9.6.0-rc1.
UNCHANGED = r"""
| Test     | v9.5.1 | v9.6.0-rc1 | Delta   |
| -------- | ------ | ---------- | ------- |
| MySQL    | 9230   | 9219       | \-0.12% |
| Postgres | 11330  | 11292      | \-0.34% |
"""


@pytest.fixture
def run(tmp_path):
    def run(command, *words):
        return CliRunner().invoke(command, [*map(str, words), "--state", str(tmp_path / "state")])

    return run


@pytest.fixture
def imported(run, tmp_path):
    def imported(text, *words):
        page = tmp_path / "comparison.md"
        page.write_text(text, encoding="utf-8")
        words = words or ("--suite", "mattermost")
        return run(import_figures.command, page, "--date", "2025-03-10", *words)

    return imported


def test_the_changes_of_mattermosts_pages_come_out_of_the_stored_figures(run, imported):
    for page in (PUBLISHED, UNCHANGED):
        done = imported(page)
        assert (done.exit_code, done.stderr) == (0, ""), done.output
        assert "4 figures added, 0 stored already." in done.stdout.splitlines()

    changed = run(compare.command, "10.5.0", "10.6.0-rc3", "--suite", "mattermost", "--all").stdout
    unchanged = run(compare.command, "9.5.1", "9.6.0-rc1", "--suite", "mattermost").stdout

    def changes(text):
        # The fold of exact figures repeats the table.
        return list(dict.fromkeys(re.findall(r"users.* \? cannot tell \| (\S+ %) \|", text)))

    assert changes(changed) == ["+16.86 %", "+15.70 %"]
    assert changes(unchanged) == ["−0.34 %", "−0.12 %"]
    assert CHANGES in changed


def test_history_prints_the_figures_digit_for_digit_under_the_names_of_the_page(run, imported):
    imported(PUBLISHED)

    done = run(history.command, "mattermost", "--format", "markdown")

    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()][
        :1
    ] == [["Version number", "Test date", "MySQL (users)", "Postgres (users)"]]
    assert re.findall(r"\| (\d+) ", done.stdout) == ["8552", "8682", "9994", "10045"]


def test_each_of_several_runs_is_compared_with_itself(run, imported):
    rows = "| MySQL (run 1) | 15489 | 19913 | 28.56% |\n| MySQL (run 3) | 15476 | 16283 | 5.21% |\n"
    imported(f"| Test | v7.10.0 | v8.0.0-rc1 | Delta |\n|---|---|---|---|\n{rows}")

    text = run(compare.command, "7.10.0", "8.0.0-rc1", "--suite", "mattermost").stdout

    users = text.partition("**Supported users")[2].partition("</details>")[0]
    assert re.findall(r"\{database: mysql, run: (\d)\} .* (\S+ %) \|", users) == [
        ("1", "+28.56 %"), ("3", "+5.21 %"),
    ]  # fmt: skip


def test_a_printed_change_that_does_not_follow_is_named_and_its_figures_are_stored(imported):
    done = imported(PUBLISHED.replace("15.70%", "15.60%"))

    assert done.exit_code == 0
    assert (
        done.stderr
        == "contradiction: line 4: the change from 8682 to 10045 is 15.70 %, not 15.60%\n"
    )
    assert "4 figures added, 0 stored already." in done.stdout.splitlines()


def test_a_row_of_changes_between_databases_is_no_figure(imported):
    done = imported(PUBLISHED + "| Delta | 1.52% | 0.51% | – |\n")

    assert "4 figures added, 0 stored already." in done.stdout.splitlines()


def test_the_baseline_that_kiwi_tcms_published_holds_together(imported):
    page = "Version,Calls per hour,Requests per second,Time per request\n10.0,71500,{},50.3\n"

    holding = imported(page.format("19.9"), "--suite", "kiwi", "--dry-run")
    wrong = imported(page.format("19"), "--suite", "kiwi", "--dry-run")

    assert (holding.exit_code, holding.stderr) == (0, ""), holding.output
    one_client = ", if one client calls"
    assert wrong.stderr.splitlines() == [
        f"contradiction: line 2: 10.0: 71500 calls/h contradicts 19 requests/s{one_client}",
        f"contradiction: line 2: 10.0: 19 requests/s contradicts 50.3 ms/request{one_client}",
    ]
