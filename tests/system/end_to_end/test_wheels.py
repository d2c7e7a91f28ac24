"""The wheels of ``cwli`` and of Tidemark, in environments of their own."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.model.checkout import ROOT

pytestmark = pytest.mark.systems
UV = str(Path(sys.executable).with_name("uv"))
PROJECTS = (ROOT, ROOT / "packages/cwli", ROOT / "packages/onebox")
PYTHONS = ("3.11", "3.12", "3.13")
MOST_MIB = 250
FIGURES = """version,day,rate (rows/s)
1.0,2026-01-05,1000
1.1,2026-02-05,1010
"""


def output(*command, **options):
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=600, **options
    ).stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Return the wheels of the repository by the name of their project."""
    folder = tmp_path_factory.mktemp("wheels")
    for project in PROJECTS:
        output(UV, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(project))
    return {wheel.name.partition("-")[0]: wheel for wheel in folder.glob("*.whl")}


@pytest.fixture(scope="module")
def constraints(tmp_path_factory):
    """Return the pinned versions without their hashes, which wheels of this tree have not."""
    file = tmp_path_factory.mktemp("pins") / "constraints.txt"
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(line.split(" ")[0] for line in lines if "==" in line[:60]))
    return file


def environment(folder, python, *wanted):
    """Return the folder of an environment with what is wanted."""
    output(UV, "venv", "--quiet", "--python", _python(python), str(folder))
    output(UV, "pip", "install", "--quiet", "--python", str(folder), *map(str, wanted))
    return folder


def _python(version):
    """Return pyenv's interpreter, which uv does not find, or the version for uv to find."""
    own = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    running = "{}.{}".format(*sys.version_info)
    return sys.executable if version == running else str(own[-1]) if own else version


@pytest.fixture(scope="module")
def installed(tmp_path_factory, wheels):
    """Return the folder of an environment with the wheel of cwli and what it needs."""
    return environment(tmp_path_factory.mktemp("cwli") / "venv", PYTHONS[0], wheels["cwli"]).parent


def test_the_wheel_answers_queries_alone(installed):
    log = installed / "app.log"
    log.write_text("2024-06-02T14:26:00Z ERROR a\n  at b\n2024-06-02T14:27:00+02:00 INFO 7 ms\n")

    def cwli(*arguments):
        return output(str(installed / "venv" / "bin" / "cwli"), *arguments, cwd=installed)

    query = "stats count(*) as n by datefloor(@timestamp, 1d) as day"
    assert cwli(query, "app.log", "--format", "csv") == "day,n\n2024-06-02 00:00:00.000,2\n"
    assert "Time-1" in cwli("pattern @message", "app.log")
    assert "accepted" in cwli("--lint", "fields @message")


def test_the_environment_has_neither_the_cloud_nor_the_cdk(installed):
    packages = output(UV, "pip", "list", "--quiet", "--python", str(installed / "venv"))
    names = {line.split()[0] for line in packages.splitlines()[2:]}
    assert names >= {"cwli", "duckdb", "click"}
    assert not names & {"moto", "boto3", "aws-cdk-lib", "pydantic", "tidemark"}


@pytest.mark.parametrize("python", PYTHONS)
def test_a_plain_install_reads_and_imports_and_says_which_extra_runs(
    tmp_path, wheels, constraints, python
):
    own = environment(tmp_path / "venv", python, *wheels.values(), "--constraint", constraints)
    work = tmp_path / "work"
    work.mkdir()
    (work / "nightly.csv").write_text(FIGURES)

    def tidemark(*arguments):
        return output(str(own / "bin" / "tidemark"), *arguments, cwd=work)

    tidemark("import", "nightly.csv")
    assert "1.1" in tidemark("history", "nightly")
    assert "nightly" in tidemark("sql", "SELECT DISTINCT suite FROM rates")
    assert "3" in tidemark("query", "stats count(*)", "nightly.csv")
    assert "rocksdb" in tidemark("suite", "check")
    for command in (("run", "rocksdb"), ("up",), ("cost",)):
        with pytest.raises(subprocess.CalledProcessError) as failed:
            tidemark(*command)
        assert failed.value.returncode == 1
        assert "installed, which this command needs; `pip install 'tidemark[" in failed.value.stderr
    assert _mib(own) <= MOST_MIB


def test_an_install_for_an_account_writes_the_templates_of_a_deployment_in_an_empty_folder(
    tmp_path, wheels, constraints
):
    wanted = ("--find-links", wheels["tidemark"].parent, "tidemark[aws]")
    own = environment(tmp_path / "venv", PYTHONS[0], *wanted, "--constraint", constraints)
    work, made = tmp_path / "work", tmp_path / "made"
    work.mkdir()
    settings = {name: value for name, value in os.environ.items() if "TIDEMARK" not in name}
    words = ("--only", "synth", "-c", "images=*=none", "-c", "suites=rocksdb", "--output", made)

    output(
        str(own / "bin" / "tidemark"), "deploy", *map(str, words),
        cwd=work, env={**settings, "TIDEMARK_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip

    stacks = {each.name.partition(".")[0] for each in made.glob("*.template.json")}
    assert stacks == {"Tidemark", "Tidemark-Data"}
    assert [*work.iterdir()] == []


def _mib(folder):
    files = (path for path in folder.rglob("*") if not path.is_symlink())
    return sum(path.stat().st_size for path in files) >> 20


@pytest.mark.parametrize("python", PYTHONS)
def test_an_install_for_one_machine_measures_a_new_suite_in_an_empty_folder(
    tmp_path, wheels, constraints, python
):
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^pip install --find-links dist (.*)$", page, re.MULTILINE)
    wanted = ("--find-links", wheels["tidemark"].parent, *shlex.split(line))
    own = environment(tmp_path / "venv", python, *wanted, "--constraint", constraints)
    work = tmp_path / "work"
    work.mkdir()
    settings = {name: value for name, value in os.environ.items() if "TIDEMARK" not in name}

    def tidemark(*arguments):
        program = str(own / "bin" / "tidemark")
        return output(program, *arguments, cwd=work, env={**settings, "HOME": str(tmp_path)})

    assert f"{work}/suites/sorted/suite.yaml" in tidemark("suite", "new", "sorted")
    tidemark("run", "sorted", "--versions", "2.4.0", "--repetitions", "1")
    assert "2.4.0" in tidemark("history", "sorted")
    assert sorted(path.name for path in work.iterdir()) == [".tidemark", "suites", "workloads"]
