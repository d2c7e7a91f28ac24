"""Programs that the kernel keeps out of a folder."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from onebox.cloud import confinement
from onebox.cloud.confinement import confined, covers, landlock

pytestmark = pytest.mark.skipif(
    not (landlock() and covers()), reason="this kernel has no Landlock, or allows no namespace"
)
UNDER_LANDLOCK_ALONE = f"""
import sys
sys.path.insert(0, {str(Path(confinement.__file__).parent)!r})
import confinement
confinement._cover = lambda *_: None
confinement._become(*sys.argv[1:])
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "state" / "tasks" / "1").mkdir(parents=True)
    (tmp_path / "state" / "cloud.json").write_text("the key")
    (tmp_path / "beside").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "state")
    return tmp_path


@pytest.fixture
def places(folder):
    return str(folder / "state"), str(folder / "state" / "tasks" / "1")


@pytest.fixture
def run(folder, places):
    """Return a way to run a confined Python program; it returns what the program printed."""

    def run(program):
        command = confined([sys.executable, "-c", program], *places)
        return subprocess.run(
            command,
            check=False,
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ).stdout.strip()

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
    assert run(outcome(expression)) in {"PermissionError", "OSError", "FileNotFoundError"}
    assert (folder / "state" / "cloud.json").read_text() == "the key"


@pytest.mark.parametrize(
    "expression",
    [
        "os.chmod('state', 0o777)",
        "os.chmod('state/cloud.json', 0o666)",
        "os.chmod('state/tasks', 0)",
        "os.chmod('link/cloud.json', 0)",
        "os.chown('state/cloud.json', 65534, 65534)",
        "os.utime('state/cloud.json', (0, 0))",
        "os.utime('state', (0, 0))",
        "os.setxattr('state/cloud.json', 'user.mine', b'1')",
        "os.removexattr('state', 'user.mine')",
        "os.stat('state/cloud.json')",
        "os.access('state/cloud.json', os.R_OK) or open('state/cloud.json')",
        "os.truncate('state/cloud.json', 0)",
        "os.mkfifo('state/fifo')",
        "os.symlink('/', 'state/root')",
        "os.mkdir('state/new')",
        "os.rmdir('state/tasks')",
        "os.statvfs('state/cloud.json')",
        "os.chdir('state/tasks/2')",
        "os.chmod('state/tasks/1/../../cloud.json', 0o666)",
        "os.chmod('/proc/self/cwd/state/cloud.json', 0o666)",
        f"os.chmod('/proc/{os.getppid()}/cwd', 0o777)",
        "subprocess.run(['umount', 'state'], check=True, capture_output=True)",
        "subprocess.run(['unshare', '--user', '--map-root-user', '--mount', 'umount', 'state'],"
        " check=True, capture_output=True)",
    ],
)
def test_no_call_of_a_confined_program_changes_or_shows_what_is_in_the_folder(
    run, folder, expression
):
    (folder / "state" / "tasks" / "2").mkdir()
    before = statuses(folder)

    assert run(f"{outcome(expression)}".replace("OSError", "Exception")) not in {"passed", ""}
    assert statuses(folder) == before


def statuses(folder):
    return [
        (path, stat.S_IMODE(status.st_mode), status.st_uid, status.st_mtime_ns, status.st_size)
        for path in sorted(folder.rglob("*"))
        for status in (path.lstat(),)
    ]


def test_where_no_namespace_is_allowed_landlock_holds_alone(folder, places):
    program = outcome("open('state/cloud.json')")
    done = subprocess.run(
        [sys.executable, "-c", UNDER_LANDLOCK_ALONE, *places, "", sys.executable, "-c", program],
        check=False, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip

    assert done.stdout == "PermissionError\n"


def test_the_program_runs_on_the_cores_that_it_is_given(folder, places):
    core = min(os.sched_getaffinity(0))
    command = confined(["cat", "/proc/self/status"], *places, [core])

    status = subprocess.check_output(command, cwd=folder, text=True)
    assert f"Cpus_allowed_list:\t{core}\n" in status


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


def test_a_trial_of_a_namespace_that_fails_for_any_reason_ends_its_process(monkeypatch):
    def fail():
        raise LookupError("unknown encoding: ascii")

    monkeypatch.setattr(confinement, "_enter_namespace", fail)

    assert not covers()
