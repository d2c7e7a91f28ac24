"""The environment that a task logs, and the cores of a server and its load on one machine."""

import json
import os

import pytest
from harness.machine import installed_digest, keep_apart, log_environment
from harness.task import CheckFailedError, Configuration

WHEEL = f"demo@file:///dist/demo-1.2.3-py3-none-any.whl#sha256={'0' * 64}"


class Engine:
    title = "Demo"

    def version(self, folder):
        return "7.0.0"


def logged(tmp_path, capsys, version, package):
    variables = {
        "TIDEMARK_VERSION": version, "TIDEMARK_PACKAGE": package, "TIDEMARK_RECORDS": "1",
        "TIDEMARK_JOBS": "1", "TIDEMARK_SEED": "0", "TIDEMARK_TASK": "0",
        "TIDEMARK_DATA": "s3://results/work", "TIDEMARK_DEADLINE_SECONDS": "60",
    }  # fmt: skip
    log_environment(Engine(), Configuration.from_environment(variables), tmp_path)
    return json.loads(capsys.readouterr().out.partition("Environment: ")[2])


@pytest.mark.parametrize(
    ("version", "package"), [("7.0.0", "demo==1.2.3"), ("1.2.3+1a2b3c4d", WHEEL)]
)
def test_a_release_and_a_build_are_measured_with_the_version_that_they_report(
    tmp_path, capsys, version, package
):
    environment = logged(tmp_path, capsys, version, package)

    assert (environment["version"], environment["engine_version"]) == (version, "7.0.0")
    assert environment["cores"] <= os.cpu_count()


def test_an_edit_of_the_program_changes_its_digest(tmp_path, capsys, monkeypatch):
    program = tmp_path / "demo" / "demo_workload.py"
    program.parent.mkdir()
    monkeypatch.chdir(program.parent)

    def digest(text, scratch):
        program.write_text(text)
        scratch.mkdir()
        return logged(scratch, capsys, "7.0.0", "demo==1.2.3")["program_demo"]

    first, again, edited = (
        digest(text, tmp_path / name) for text, name in (("1", "a"), ("1", "b"), ("2", "c"))
    )
    assert first == again != edited


def test_a_prepared_file_of_another_content_is_another_installation(tmp_path, monkeypatch):
    prepared = tmp_path / "prepared" / "lib"
    prepared.mkdir(parents=True)
    monkeypatch.setenv("TIDEMARK_PREPARED", str(prepared.parent))

    def digest(content):
        (prepared / "engine.jar").write_bytes(content)
        return installed_digest()

    first, again, other = map(digest, (b"1", b"1", b"2"))
    assert first == again != other


def test_a_file_of_a_folder_of_the_program_changes_its_digest(tmp_path, capsys, monkeypatch):
    program = tmp_path / "demo"
    (program / "one").mkdir(parents=True)
    (program / "two").mkdir()
    (program / "__pycache__").mkdir()
    monkeypatch.chdir(program)

    def digest(scratch):
        scratch.mkdir()
        return logged(scratch, capsys, "7.0.0", "demo==1.2.3")["program_demo"]

    (program / "one/rows.py").write_text("1")
    first = digest(tmp_path / "a")
    (program / "__pycache__/rows.pyc").write_text("1")
    compiled = digest(tmp_path / "b")
    (program / "one/rows.py").write_text("2")
    edited = digest(tmp_path / "c")
    (program / "one/rows.py").rename(program / "two/rows.py")
    moved = digest(tmp_path / "d")
    assert first == compiled
    assert len({first, edited, moved}) == 3


def test_a_release_that_reports_another_version_is_not_measured(tmp_path, capsys):
    with pytest.raises(
        CheckFailedError,
        match=r"^The system that was measured is Demo 7\.0\.0: 7\.0\.1 was expected\.$",
    ):
        logged(tmp_path, capsys, "7.0.1", "demo==1.2.4")


@pytest.fixture
def kept(monkeypatch):
    """Return a function that gives the cores of both sides of a machine with some cores."""

    def kept(host, *cores):
        sides = []
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*cores})
        monkeypatch.setattr(os, "sched_setaffinity", lambda _, chosen: sides.append(chosen))
        for serves in (True, False):
            keep_apart(host, serves=serves)
        return sides

    return kept


def test_a_server_and_its_load_have_no_core_in_common(kept):
    assert kept("127.9.8.7", 0, 1) == [[1], [0]]
    assert kept("127.9.8.7", 2, 4, 6) == [[4, 6], [2]]


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.12.7"])
def test_a_server_on_a_machine_of_its_own_has_all_cores(kept, host):
    assert kept(host, 0, 1) == []


def test_one_core_is_shared(kept):
    assert kept("127.9.8.7", 3) == []
