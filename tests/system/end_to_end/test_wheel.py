"""The wheel of ``cwli`` in an environment of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.model.checkout import ROOT

pytestmark = pytest.mark.systems
UV = str(Path(sys.executable).with_name("uv"))


def output(*command, **options):
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=300, **options
    ).stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return the folder of an environment with the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("cwli")
    output(UV, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT / "packages/cwli"))
    (wheel,) = folder.glob("*.whl")
    output(UV, "venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
    output(UV, "pip", "install", "--quiet", "--python", str(folder / "venv"), str(wheel))
    return folder


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
