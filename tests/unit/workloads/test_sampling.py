"""A program under the profiler, with a Maven that is a shell script and a program that folds."""

import gzip
import hashlib
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from harness import profilers
from harness.preparation import main as prepare_and_run
from harness.profilers import profiler, variables_of
from harness.sampling import FILE, main
from harness.task import ConfigurationError

from tests.unit.workloads.fake_bucket import Bucket
from tidemark.model.profile import PROFILE_FILE
from tidemark.model.task import HARNESS

PLACE = "s3://results/data/run/901/secret/artefacts/ingest/0/"
# A program that leaves the stacks of two processes where the profiler would, and ends.
FOLDS = """
import os, sys
file = os.environ["ASPROF_COMMAND"].partition("file=")[2].partition(",")[0]
for process, text in enumerate(sys.argv[2:]):
    with open(file.replace("%p", str(process)), "w") as folded:
        folded.write(text)
sys.exit(int(sys.argv[1]))
"""
COPIES = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
for word; do case "$word" in -DoutputDirectory=*) folder="${word#*=}";; esac; done
cp "$(dirname "$0")/jar" "$folder/async-profiler-4.4.jar"
"""


@pytest.fixture
def maven(tmp_path, monkeypatch):
    """Return a function that makes a Maven from a script; it copies a jar with two libraries."""
    with zipfile.ZipFile(tmp_path / "jar", "w") as jar:
        jar.writestr("linux-x64/libasyncProfiler.so", "x64")
        jar.writestr("linux-arm64/libasyncProfiler.so", "arm64")
    digest = hashlib.sha256((tmp_path / "jar").read_bytes()).hexdigest()
    monkeypatch.setattr(profilers, "_SHA256", digest)

    def make(script=COPIES):
        (tmp_path / "mvn").write_text(script)
        (tmp_path / "mvn").chmod(0o755)
        return {
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "TIDEMARK_CACHE": str(tmp_path / "cache"),
            "TIDEMARK_PROFILER": "async-profiler",
        }

    return make


def library(variables, timeout):
    return profiler(variables).found(variables, timeout)


def run(*words, file="/dev/null", program=FOLDS, name="async-profiler"):
    """Run a program under a profiler; return its exit code and what it left."""
    variables = {
        **os.environ,
        "TIDEMARK_PROFILER": name,
        "TIDEMARK_PROFILE_HZ": "99",
        "TIDEMARK_ARTEFACTS": PLACE,
    }
    bucket = Bucket()
    code = main(str(file), [sys.executable, "-c", program, *words], variables, lambda: bucket)
    return code, bucket.objects


def test_the_library_of_this_machine_is_fetched_once(maven, tmp_path, monkeypatch):
    monkeypatch.setattr(profilers.platform, "machine", lambda: "aarch64")

    first, again = library(maven(), 60), library(maven(), 60)

    assert first == again
    assert first.read_text() == "arm64"
    assert [file.name for file in first.parent.iterdir()] == ["libasyncProfiler.so"]
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert "-Dartifact=tools.profiler:async-profiler:4.4" in call


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"script": "#!/bin/sh\necho no network\nexit 1\n"}, "could not be fetched: no network$"),
        ({"machine": "riscv64"}, "has no library for riscv64: x86_64 and aarch64"),
        (
            {"name": "gperftools"},
            "TIDEMARK_PROFILER is 'gperftools': async-profiler and py-spy are accepted",
        ),
        ({"PATH": "/nowhere"}, "comes from Maven Central: mvn is missing on the PATH"),
        ({"digest": "0" * 64}, "has the SHA-256 [0-9a-f]{64}: 0{64} was expected"),
    ],
)
def test_a_library_that_is_not_the_pinned_one_is_refused(maven, monkeypatch, changed, sentence):
    variables = maven(changed.get("script", COPIES)) | {
        "TIDEMARK_PROFILER": changed.get("name", "async-profiler")
    }
    if "machine" in changed:
        monkeypatch.setattr(profilers.platform, "machine", lambda: changed["machine"])
    if "digest" in changed:
        monkeypatch.setattr(profilers, "_SHA256", changed["digest"])
    variables |= {key: value for key, value in changed.items() if key == "PATH"}

    with pytest.raises(ConfigurationError, match=sentence):
        library(variables, 60)
    assert not list(Path(variables["TIDEMARK_CACHE"]).glob("*/libasyncProfiler.so"))


def test_a_program_is_sampled_by_its_cpu_time_as_often_as_asked():
    variables = variables_of(Path("/lib.so"), Path("/scratch"), 99)

    sampled = "start,quiet,event=ctimer,interval=10101010,collapsed,file=/scratch/%p.folded"
    assert variables["ASPROF_COMMAND"] == f"{sampled},cstack=dwarf"
    assert variables["LD_PRELOAD"] == "/lib.so"
    assert variables["JAVA_TOOL_OPTIONS"] == f"-agentpath:/lib.so={sampled},cstack=vm"


def test_the_stacks_of_all_processes_are_one_file_of_the_task():
    code, left = run("0", "main;a 1\nmain;b 2\n", "main;b 3\n")

    assert code == 0
    assert FILE == PROFILE_FILE
    ((key, body),) = left.items()
    assert key == "data/run/901/secret/artefacts/ingest/0/profile.folded.gz"
    assert gzip.decompress(body).decode() == "main;a 1\nmain;b 5\n"
    assert run("0", "main;a 1\nmain;b 2\n", "main;b 3\n")[1] == left


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["0"], "the profiler wrote no stack"),
        (["0", "main;a 1\nmain;b"], "invalid literal for int"),
    ],
)
def test_a_profile_that_fails_is_a_line_of_the_log_and_the_program_succeeds(words, reason, capfd):
    assert run(*words) == (0, {})
    assert f".Profiler INFO  - No profile: {reason}" in capfd.readouterr().out


def test_a_process_that_took_next_to_no_time_has_no_samples():
    _, left = run("0", "[INFO] No samples were collected\n", "main;a 1\n")

    assert [gzip.decompress(body) for body in left.values()] == [b"main;a 1\n"]


def test_a_program_that_fails_leaves_no_profile_and_its_exit_code(capfd):
    assert run("3", "main;a 1\n") == (3, {})
    assert "No profile" not in capfd.readouterr().out


def code_of_stopped(profiler, file, begun):
    """Stop a program that a profiler samples once it has begun; return the exit code."""
    program = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); time.sleep(60)"
    process = subprocess.Popen(
        [
            sys.executable, "-m", "harness.sampling", str(file),
            sys.executable, "-c", program, str(begun),
        ],
        env={
            "PATH": os.environ["PATH"], "PYTHONPATH": str(HARNESS),
            "TIDEMARK_PROFILER": profiler, "TIDEMARK_PROFILE_HZ": "99",
            "TIDEMARK_ARTEFACTS": PLACE,
        },
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not begun.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    return process.wait()


def test_a_stop_reaches_the_program(tmp_path):
    code = code_of_stopped("async-profiler", "/dev/null", tmp_path / "begun")

    assert code == 128 + signal.SIGTERM


# A py-spy that runs the program, and writes what it would have seen of two processes.
SPY = """#!{python} -S
import json, subprocess, sys
own, program = sys.argv[: sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
# It does not wait while it is tried.
code = subprocess.call(program) if "guarded_program" in str(program) else 0
names = [("process 7:x", ""), ("main", "main.py"), ("a;b", "/1.0/site/lib.py"), ("process 8", "")]
frames = [dict(name=name, file=file, line=7) for name, file in names]
threads = [dict(samples=[[0, 1], [0, 1, 2], []]), dict(samples=[[0, 3], [0, 3, 1, 2]])]
with open(own[own.index("--output") + 1], "w") as output:
    json.dump(dict(shared=dict(frames=frames), profiles=threads), output)
sys.exit({code})
"""


@pytest.fixture
def spy(tmp_path):
    """Return a function that makes a py-spy."""

    def make(code="0", text=SPY):
        file = tmp_path / "py-spy"
        file.write_text(text.replace("{python}", sys.executable).replace("{code}", code))
        file.chmod(0o755)
        return {"file": file, "name": "py-spy"}

    return make


def test_py_spy_leaves_the_frames_of_python_without_those_of_processes(spy):
    code, left = run(**spy(), program="")

    assert code == 0
    stacks = [gzip.decompress(body).decode() for body in left.values()]
    assert stacks == ["main (main.py) 1\nmain (main.py);a:b (site/lib.py) 2\n"]


def test_the_exit_code_under_py_spy_is_that_of_the_program(spy):
    ends = "import sys; sys.exit(int(sys.argv[1]))"
    tried = spy("code if 'guarded_program' in str(program) else 0")

    assert run("3", **tried, program=ends) == (3, {})
    kills = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run(**tried, program=kills)[0] == 128 + signal.SIGKILL


def test_a_program_runs_to_its_end_where_py_spy_may_not_sample(spy, capfd):
    refused = "#!/bin/sh\necho Permission denied\nexit 1\n"

    assert run("5", **spy(text=refused), program="import sys; sys.exit(int(sys.argv[1]))") == (
        5,
        {},
    )
    out = capfd.readouterr().out
    assert "INFO  - No profile: py-spy cannot sample here: Permission denied" in out


def test_a_stop_reaches_the_program_under_py_spy(spy, tmp_path):
    code = code_of_stopped("py-spy", spy()["file"], tmp_path / "begun")

    assert code == 128 + signal.SIGTERM


# A task or service under the profiler, which says what it leaves in place of storing it.
SAYS = """
import os, sys
from harness.sampling import main
class Bucket:
    def put_object(self, **given):
        print("left", given["Key"])
sys.exit(main(sys.argv[1], sys.argv[2:], os.environ, Bucket))
"""
SERVES = "import sys, time; print('begun', flush=True); time.sleep(60 * int(sys.argv[1]))"


@pytest.mark.parametrize(
    ("ready", "minutes", "left"),
    [
        ({"TIDEMARK_READY": ":8080"}, "1", f"left {PLACE.removeprefix('s3://results/')}{FILE}\n"),
        ({}, "1", ""),
        ({"TIDEMARK_READY": ":8080"}, "dies", ""),
    ],
)
def test_a_service_leaves_its_profile_when_all_its_processes_are_stopped_and_a_task_does_not(
    spy, ready, minutes, left
):
    words = [str(spy()["file"]), sys.executable, "-c", SERVES, minutes]
    process = subprocess.Popen(
        [sys.executable, "-c", SAYS, *words],
        env={
            "PATH": os.environ["PATH"], "PYTHONPATH": str(HARNESS), **ready,
            "TIDEMARK_PROFILER": "py-spy", "TIDEMARK_PROFILE_HZ": "99",
            "TIDEMARK_ARTEFACTS": PLACE,
        },
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    while "begun" not in process.stdout.readline():
        pass
    if minutes == "1":
        os.killpg(process.pid, signal.SIGTERM)

    assert process.communicate()[0] == left
    assert process.returncode == (1 if minutes == "dies" else 128 + signal.SIGTERM)


def test_a_profiler_that_cannot_be_set_up_fails_no_task_but_a_preparation_ahead(
    maven, monkeypatch, tmp_path, capfd
):
    become = []
    monkeypatch.chdir(tmp_path)
    (tmp_path / "packages.txt").touch()
    made = tmp_path / "python"
    monkeypatch.setattr("harness.preparation.environment", lambda *_: made)
    monkeypatch.setattr("harness.deadline.run", lambda words, *_: become.append(words))
    for key, value in maven().items():
        monkeypatch.setenv(key, value)

    prepare_and_run(["program"])
    monkeypatch.setenv("TIDEMARK_PROFILER", "other")
    prepare_and_run(["program"])

    assert become[0][:3] == ["python", "-m", "harness.sampling"]
    assert become[0][4:] == ["program"]
    assert become[1] == ["program"]
    assert "INFO  - No profile: TIDEMARK_PROFILER is 'other'" in capfd.readouterr().out
    assert prepare_and_run([]) == 2
