"""``tidemark doctor``: its sentences and its exit codes."""

import pytest
from click.testing import CliRunner

import onebox.doctor
from onebox.doctor import Finding
from tidemark.cli import doctor

LOST = Finding("a is damaged", "moves it aside", lambda: False)
MENDED = Finding("b is damaged", "writes it again", lambda: True)
HARMLESS = Finding("c is unfinished", "leaves it", lambda: True, harmless=True)


@pytest.mark.parametrize(
    ("findings", "repair", "code", "last"),
    [
        ([], False, 0, "Everything in {} is whole."),
        ([HARMLESS], True, 0, "Everything else in {} is whole."),
        ([MENDED, LOST, HARMLESS], False, 1,
         "Error: 2 damaged; `tidemark doctor --repair --state {}` mends what it can"),
        ([MENDED, HARMLESS], True, 0, "All 1 are mended."),
        ([MENDED, LOST, HARMLESS], True, 1,
         "Error: 1 of 3 could not be mended; see {}/damaged"),
    ],
)  # fmt: skip
def test_each_finding_is_said_and_the_exit_code_tells_whether_damage_is_left(
    tmp_path, monkeypatch, findings, repair, code, last
):
    monkeypatch.setattr(onebox.doctor, "examine", lambda *_: iter(findings))
    monkeypatch.setattr(doctor, "check_state", lambda *_: None)
    monkeypatch.setattr(doctor, "await_files", lambda _: None)

    words = ["--state", str(tmp_path), *(["--repair"] if repair else [])]
    done = CliRunner().invoke(doctor.command, words)

    said = [f"{each.problem}; --repair {each.remedy}." for each in findings]
    assert done.output.splitlines() == [*said, last.format(tmp_path)]
    assert done.exit_code == code
