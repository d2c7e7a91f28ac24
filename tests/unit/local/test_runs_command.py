"""What `tidemark runs` prints, where nothing was run."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from local.commands import runs


@pytest.fixture(autouse=True)
def nothing_was_run(monkeypatch):
    @contextmanager
    def deployed(_target):
        yield SimpleNamespace(runs=lambda: None)

    @contextmanager
    def tables_of(_cloud):
        answer = SimpleNamespace(columns=["run_id", "status"], records=list)
        yield SimpleNamespace(saved=lambda *_, **__: answer)

    monkeypatch.setattr(runs, "deployed", deployed)
    monkeypatch.setattr(runs, "tables_of", tables_of)
    monkeypatch.setattr(runs, "running", lambda _: [])


def test_a_person_is_told_that_no_run_is_stored():
    listed = CliRunner().invoke(runs.command, ["--state", "/kept"])

    assert listed.exit_code == 0
    assert listed.stdout == ""
    hint = "`tidemark run --state /kept` measures some versions"
    assert listed.stderr == f"no run is stored yet; {hint}\n"


@pytest.mark.parametrize(("form", "printed"), [("csv", "run_id,status\n"), ("json", "[]\n")])
def test_a_program_gets_an_empty_list(form, printed):
    assert CliRunner().invoke(runs.command, ["--format", form]).stdout == printed
