"""Programs that the kernel keeps out of a folder."""

import os
import subprocess
import sys
from functools import partial

import pytest

from onebox.cloud.confinement import Confinement, landlock

pytestmark = pytest.mark.skipif(not landlock(), reason="this kernel has no Landlock")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "state" / "tasks" / "1").mkdir(parents=True)
    (tmp_path / "state" / "cloud.json").write_text("the key")
    (tmp_path / "beside").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "state")
    return tmp_path


@pytest.fixture
def run(folder):
    """Return a way to run a confined Python program; it returns what the program printed."""
    confinement = Confinement(folder / "state", folder / "state" / "tasks" / "1")

    def run(program):
        begin = partial(
            subprocess.Popen, [sys.executable, "-c", program], cwd=folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        with confinement.start(begin) as process:
            return process.communicate()[0].strip()

    return run


def outcome(expression):
    """Return a program that prints the name of the error of an expression, or that it passed."""
    return (
        "import os, pathlib, subprocess\n"
        f"try:\n    {expression}\nexcept OSError as error:\n    print(type(error).__name__)\n"
        "else:\n    print('passed')"
    )


@pytest.mark.parametrize(
    "expression",
    [
        "open('state/cloud.json')",
        "open('state/cloud.json', 'a')",
        "open('state/forged', 'w')",
        "os.listdir('state')",
        "os.unlink('state/cloud.json')",
        "os.rename('state/cloud.json', 'beside/mine')",
        "os.link('state/cloud.json', 'beside/mine')",
        "os.rename('state', 'moved')",
        "open('link/cloud.json')",
        "open('/proc/self/root' + os.getcwd() + '/state/cloud.json')",
    ],
)
def test_a_confined_program_cannot_use_the_folder(run, folder, expression):
    assert run(outcome(expression)) in {"PermissionError", "OSError"}
    assert (folder / "state" / "cloud.json").read_text() == "the key"


def test_its_children_cannot_either(run):
    program = "import subprocess; print(subprocess.run(['cat', 'state/cloud.json']).returncode)"

    assert run(program).endswith("1")


@pytest.mark.parametrize(
    "expression",
    [
        "open('state/tasks/1/file', 'w')",
        "open('beside/file', 'w')",
        "os.listdir('beside')",
        "os.listdir('/usr')",
        "subprocess.run(['true'], check=True)",
        "open('/dev/null', 'w')",
    ],
)
def test_a_confined_program_uses_everything_else(run, expression):
    assert run(outcome(expression)) == "passed"


def test_a_confined_program_traces_and_signals_no_other_process(run):
    assert run(outcome(f"open('/proc/{os.getpid()}/mem')")) == "PermissionError"
    assert run(outcome(f"os.listdir('/proc/{os.getpid()}/root')")) == "PermissionError"
    if landlock() >= 6:
        assert run(outcome(f"os.kill({os.getpid()}, 0)")) == "PermissionError"


def test_this_process_stays_free(run, folder):
    run("")

    assert (folder / "state" / "cloud.json").read_text() == "the key"
