"""Preparation, with a uv that is a shell script."""

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness import installation, preparation
from harness.installation import environment
from harness.preparation import prepare, prepare_round
from harness.rounds import ROUND
from harness.task import ConfigurationError
from pydantic import TypeAdapter

from tidemark.model.checkout import ROOT
from tidemark.model.request import Wheel
from tidemark.model.task import HARNESS, PREPARATION

PACKAGE = "rocksdict==0.3.23"

# "venv" makes a folder with an interpreter at its last argument; files record every call.
MAKES = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
if [ "$1" = pip ]; then cat > "$(dirname "$0")/given"; fi
if [ "$1" = venv ]; then
    for target; do :; done
    mkdir -p "$target/bin" && ln -s "$(command -v python3)" "$target/bin/python"
fi
"""
REFUSES = """#!/bin/sh
if [ "$1" = venv ]; then exit 0; fi
printf '  × No solution found:\\n  ╰─▶ Because there is no version of rocksdict==0.3.23\\n' >&2
exit 1
"""
DISTRUSTS = """#!/bin/sh
if [ "$1" = venv ]; then exit 0; fi
printf 'error: Request failed\\n  Caused by: invalid peer certificate: UnknownIssuer\\n' >&2
exit 1
"""
HANGS = """#!/bin/sh
exec sleep 60
"""


@pytest.fixture(autouse=True)
def _in_the_folder_of_a_workload(monkeypatch):
    monkeypatch.chdir(ROOT / "workloads" / "rocksdb")


@pytest.fixture
def uv(tmp_path):
    def make(script):
        program = tmp_path / "uv"
        program.write_text(script)
        program.chmod(0o755)
        return {
            "PATH": os.environ["PATH"],
            "TIDEMARK_UV": str(program),
            "TIDEMARK_CACHE": str(tmp_path / "cache"),
            "TIDEMARK_VERSION": "9.0.0",
            "TIDEMARK_PACKAGE": PACKAGE,
        }

    return make


def test_each_python_has_an_environment_of_its_own(uv, tmp_path, monkeypatch):
    for version in ("3.98.9", "3.98.10"):
        own = tmp_path / ".pyenv" / "versions" / version / "bin" / "python3.98"
        own.parent.mkdir(parents=True)
        own.touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    made = {
        environment({**uv(MAKES), "TIDEMARK_PYTHON": python}, timeout=60)
        for python in ("3.98", "3.99")
    }

    assert len(made) == 2
    calls = (tmp_path / "calls").read_text().splitlines()
    asked = [call.split()[4] for call in calls if call.startswith("venv")]
    assert asked == [str(own), "3.99"]  # uv finds its own Pythons by their version


def test_a_python_that_is_no_version_is_refused(uv):
    with pytest.raises(ConfigurationError, match=r"a version such as 3\.13 is accepted"):
        environment({**uv(MAKES), "TIDEMARK_PYTHON": "/bin/sh"}, timeout=60)


def test_the_environment_is_made_with_exactly_the_tools_and_the_pinned_package(uv, tmp_path):
    python = environment(uv(MAKES), timeout=60)

    assert python.exists()
    venv, tools, install = (tmp_path / "calls").read_text().splitlines()
    assert venv.startswith("venv --quiet --relocatable --python ")
    words = "pip install --quiet --only-binary :all: --python "
    assert tools.startswith(words)
    assert tools.endswith(f" --offline --require-hashes -r {HARNESS / 'tools.txt'}")
    assert install.startswith(words)
    assert install.endswith(" --offline --require-hashes -r -")
    package, *hashes = (tmp_path / "given").read_text().strip().split(" \\\n    ")
    assert package == PACKAGE
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes)


def test_an_image_is_made_with_the_environment_of_each_of_its_versions(uv, tmp_path):
    versions = ("9.0.0", "rocksdict==0.3.23"), ("9.7.3", "rocksdict==0.3.24")
    inside = [{"TIDEMARK_VERSION": each, "TIDEMARK_PACKAGE": package} for each, package in versions]
    base = {name: text for name, text in uv(MAKES).items() if name not in inside[0]}

    preparation.prepare_each({**base, "TIDEMARK_VERSIONS": json.dumps(inside)}, timeout=60)

    made = len((tmp_path / "calls").read_text().splitlines())
    for own in inside:
        environment({**base, **own}, timeout=60)
    assert len((tmp_path / "calls").read_text().splitlines()) == made == 6


def test_programs_trust_the_certificates_of_the_variable_beside_those_of_the_system():
    trusted = preparation.trusting({"TIDEMARK_CERTIFICATES": "-----BEGIN CERTIFICATE-----"})

    file = Path(trusted["SSL_CERT_FILE"])
    assert file.read_text().endswith("\n-----BEGIN CERTIFICATE-----\n")
    assert trusted["AWS_CA_BUNDLE"] == trusted["REQUESTS_CA_BUNDLE"] == str(file)
    file.unlink()


def test_without_certificates_nothing_else_is_trusted():
    assert preparation.trusting({"PATH": "/bin"}) == {"PATH": "/bin"}


def test_a_version_without_pins_is_installed_as_it_is_required(uv, tmp_path):
    required = {"TIDEMARK_VERSION": "9.9.9", "TIDEMARK_PACKAGE": "one==1.0 two==2.0"}

    environment(uv(MAKES) | required, timeout=60)

    assert (tmp_path / "calls").read_text().splitlines()[-1].endswith(" --offline -r -")
    assert (tmp_path / "given").read_text() == "one==1.0\ntwo==2.0"


def test_a_package_that_differs_from_the_pins_of_its_version_is_refused(uv, tmp_path):
    with pytest.raises(ConfigurationError) as refusal:
        environment(uv(MAKES) | {"TIDEMARK_PACKAGE": "rocksdict==0.3.1"}, timeout=60)

    assert str(refusal.value) == (
        "TIDEMARK_PACKAGE has 'rocksdict==0.3.1': the packages of pins/9.0.0.txt are accepted."
    )
    assert not (tmp_path / "calls").exists()


@pytest.mark.parametrize(
    "package",
    ["rocksdict", "rocksdict>=0.3", "rocksdict==0.3.23 --index-url=http://x", "-r", "a==0.3.٣"],
)
def test_a_requirement_of_another_form_is_refused(uv, package):
    with pytest.raises(ConfigurationError, match=r"^TIDEMARK_PACKAGE is '.+'; expected "):
        environment(uv(MAKES) | {"TIDEMARK_PACKAGE": package}, timeout=60)


def test_the_longest_wheel_of_a_request_is_installed(uv, tmp_path):
    wheel = f"file:///{'a' * 400}.whl#sha256={'0' * 64}"
    TypeAdapter(Wheel).validate_python(wheel)
    variables = uv(MAKES) | {"TIDEMARK_VERSION": "1+0", "TIDEMARK_PACKAGE": f"x@{wheel}"}

    environment(variables, timeout=60)

    assert (tmp_path / "given").read_text() == f"x@{wheel}"


def test_a_package_that_is_not_cached_comes_from_the_package_index(uv, tmp_path):
    nothing_cached = 'case "$*" in *--offline*) exit 1;; esac\n'

    assert environment(uv(MAKES + nothing_cached), timeout=60).exists()
    *_, cached, fetched = (tmp_path / "calls").read_text().splitlines()
    assert cached.replace(" --offline", "") == fetched


def test_the_name_of_an_environment_has_its_package_and_its_python(uv):
    python = environment(uv(MAKES), timeout=60)

    name = rf"{PACKAGE}_python{platform.python_version()}_[0-9a-f]{{12}}"
    assert re.fullmatch(name, python.parents[1].name)


def test_the_environment_is_made_once(uv, tmp_path):
    variables = uv(MAKES)
    first = environment(variables, timeout=60)
    (tmp_path / "calls").unlink()

    assert environment(variables, timeout=60) == first
    assert not (tmp_path / "calls").exists()


def test_an_environment_that_another_task_made_first_is_used(uv, tmp_path):
    name = environment(uv(MAKES), timeout=60).parents[1].name
    (tmp_path / "cache" / name).rename(tmp_path / "aside")
    # The other task's environment appears while this task makes its own.
    other = f'mkdir -p "$(dirname "$0")/cache/{name}/bin/other"'

    python = environment(uv(MAKES + other), timeout=60)

    assert (python.parent / "other").exists()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [name]


def test_a_package_that_uv_refuses_is_named_with_its_reason(uv, tmp_path):
    with pytest.raises(ConfigurationError) as refusal:
        environment(uv(REFUSES), timeout=60)

    assert str(refusal.value) == (
        "rocksdict==0.3.23 could not be installed: "
        "No solution found: Because there is no version of rocksdict==0.3.23"
    )
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_proxy_whose_certificate_uv_does_not_trust_is_told_with_the_variable(uv):
    with pytest.raises(ConfigurationError) as refusal:
        environment(uv(DISTRUSTS), timeout=60)

    assert "invalid peer certificate: UnknownIssuer (SSL_CERT_FILE names " in str(refusal.value)


def test_a_missing_uv_is_named(uv):
    with pytest.raises(ConfigurationError, match=r"^TIDEMARK_UV is '/nowhere/uv'"):
        environment(uv(MAKES) | {"TIDEMARK_UV": "/nowhere/uv"}, timeout=60)


def test_a_uv_that_hangs_is_ended(uv):
    with pytest.raises(subprocess.TimeoutExpired):
        environment(uv(HANGS), timeout=0.1)


def test_the_time_limit_holds_for_all_calls_of_uv_together(uv, monkeypatch):
    now = iter([0.0, 0.0, 50.0])  # the limit begins; "venv" takes 50 s; "pip install" begins
    limits = []

    def run(_, timeout, **more):
        limits.append(timeout)
        return subprocess.CompletedProcess([], 0) if len(limits) == 1 else hang(timeout)

    def hang(timeout):
        raise subprocess.TimeoutExpired("uv", timeout)

    monkeypatch.setattr(installation.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(installation.subprocess, "run", run)

    with pytest.raises(subprocess.TimeoutExpired):
        environment(uv(MAKES), timeout=60)
    assert limits == [60.0, 10.0]


def installs(script):
    return {"TIDEMARK_PREPARE": json.dumps(["sh", "-c", script])}


def test_the_workloads_own_command_installs_a_version_once(uv, tmp_path):
    made = f"echo $TIDEMARK_VERSION > $TIDEMARK_PREPARED/jar; echo >> {tmp_path}/times"
    variables = uv(MAKES) | installs(made)

    first, again = (prepare(variables, 60)["TIDEMARK_PREPARED"] for _ in range(2))

    assert first == again
    assert (tmp_path / "cache" / first / "jar").read_text() == "9.0.0\n"
    assert (tmp_path / "times").read_text() == "\n"


def test_a_command_that_fails_leaves_nothing_and_is_named_with_its_last_words(uv, tmp_path):
    variables = uv(MAKES) | installs("touch $TIDEMARK_PREPARED/half; echo no such jar; exit 3")

    with pytest.raises(ConfigurationError) as refusal:
        prepare(variables, 60)

    assert str(refusal.value) == (
        "version 9.0.0 could not be installed: sh ended with exit code 3: no such jar"
    )
    assert not [path for path in (tmp_path / "cache").iterdir() if "9.0.0" in path.name]


def test_a_folder_of_jars_is_used_as_it_is_and_no_package_is_installed(uv, tmp_path):
    (tmp_path / "1.2.0").mkdir()
    (tmp_path / "1.2.0" / "core.jar").touch()
    jars = {"TIDEMARK_JARS": json.dumps([str(tmp_path), "build it"]), "TIDEMARK_PACKAGE": "1.2.0"}

    found = prepare(uv(MAKES) | jars, 60)

    assert found["TIDEMARK_PREPARED"] == str(tmp_path / "1.2.0")
    assert (tmp_path / "given").read_text() == ""


def test_a_missing_tool_of_the_command_is_named(uv):
    with pytest.raises(ConfigurationError) as refusal:
        prepare(uv(MAKES) | {"TIDEMARK_PREPARE": '["no-such-mvn", "copy"]'}, 60)

    assert str(refusal.value) == "no-such-mvn is not on the PATH: it installs version 9.0.0."


def become(variables, *words):
    done = subprocess.run(
        [sys.executable, *PREPARATION[1:], *words],
        env={**variables, "PYTHONPATH": str(HARNESS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_the_program_becomes_that_of_the_task_with_the_versions_python_first(uv, tmp_path):
    code, output = become(uv(MAKES), "sh", "-c", "command -v python; echo $PYTHONPATH; exit 7")

    prepared, python, path = output.splitlines()
    assert code == 7
    assert prepared.startswith(f"[main] rocksdb.Preparation INFO  - Prepared {PACKAGE} in ")
    assert python.startswith(f"{tmp_path}/cache/{PACKAGE}_")
    assert path == str(HARNESS)


@pytest.mark.parametrize(("limit", "left"), [("20", 13.0), ("5", 0.0), (None, None)])
def test_the_deadline_is_that_of_the_whole_task_with_its_preparation(monkeypatch, limit, left):
    given = []
    times = iter((100.0, 107.0, 107.0))
    monkeypatch.setattr(preparation.time, "monotonic", lambda: next(times))
    monkeypatch.setattr(preparation, "prepare", lambda variables, _: variables)
    monkeypatch.setattr(preparation.deadline, "run", lambda *values: given.append(values) or 3)
    variables = {"TIDEMARK_VERSION": "9.0.0"}
    variables |= {"TIDEMARK_DEADLINE_SECONDS": limit} if limit else {}
    monkeypatch.setattr(preparation.os, "environ", variables)

    assert preparation.main(["work"]) == 3
    assert given == [(["work"], variables, left, limit or "600")]


def test_a_program_that_is_missing_is_named(uv):
    code, output = become(uv(MAKES), "no-such-program")

    assert code == 127
    assert output.endswith("ERROR  - no-such-program cannot be run: No such file or directory.\n")


def test_an_environment_can_be_made_ahead_of_a_task(uv):
    variables = uv(MAKES)

    assert become(variables) == (0, "")
    assert environment(variables | {"TIDEMARK_UV": "/nowhere/uv"}, timeout=60).exists()


def test_a_failure_is_one_line_of_the_log(uv):
    code, output = become(uv(REFUSES), "true")

    assert code == 2
    assert output.startswith(
        "[main] rocksdb.Preparation ERROR  - rocksdict==0.3.23 could not be installed: "
    )


def test_a_cache_that_cannot_be_written_is_named(uv):
    code, output = become(uv(MAKES) | {"TIDEMARK_CACHE": "/proc/cache"})

    assert code == 2
    assert output.endswith("ERROR  - /proc/cache cannot be written: No such file or directory.\n")


@pytest.fixture
def own_workload(tmp_path, monkeypatch):
    """Return the new folder of a workload, in which the test runs."""
    folder = tmp_path / "workload"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_program_with_packages_of_its_own_has_none_of_the_version(uv, own_workload, tmp_path):
    (own_workload / "packages.txt").write_text("load==1.0 --hash=sha256:12\n")
    variables = uv(MAKES)

    python = environment(variables, timeout=60)

    assert (tmp_path / "given").read_text() == "load==1.0 --hash=sha256:12\n"
    assert (tmp_path / "calls").read_text().splitlines()[-1].endswith(" --require-hashes -r -")
    assert environment(variables | {"TIDEMARK_PACKAGE": "other==1"}, timeout=60) == python
    _, output = become(variables, "true")
    assert " INFO  - Prepared the program in " in output


def test_a_program_that_needs_no_packages_has_the_tools_alone(uv, own_workload, tmp_path):
    (own_workload / "packages.txt").touch()

    environment(uv(MAKES), timeout=60)

    _, tools = (tmp_path / "calls").read_text().splitlines()
    assert tools.endswith(f" --require-hashes -r {HARNESS / 'tools.txt'}")


def test_what_builds_packages_is_pinned_and_part_of_their_environment(uv, own_workload, tmp_path):
    (own_workload / "build.txt").write_text("setuptools==80.9.0 --hash=sha256:12\n")
    first = environment(uv(MAKES), timeout=60)

    assert " --build-constraints build.txt " in (tmp_path / "calls").read_text().splitlines()[-1]
    (own_workload / "build.txt").write_text("setuptools==81.0.0 --hash=sha256:34\n")
    assert environment(uv(MAKES), timeout=60) != first


def test_each_version_of_a_round_has_its_own_variables_and_one_that_fails_drops(
    monkeypatch, capsys
):
    asked = []

    def prepare(variables, timeout):
        asked.append(timeout)
        if variables["TIDEMARK_VERSION"] == "2.0":
            raise ConfigurationError("it has no wheel")
        return {**variables, "PATH": f"/{variables['TIDEMARK_PACKAGE']}/bin"}

    monkeypatch.setattr(preparation, "prepare", prepare)
    versions = [
        {"name": f"v{number}", "version": f"{number}.0", "package": f"p=={number}"}
        for number in (1, 2, 3)
    ]

    def of_round(versions):
        given = {"slices": 4, "versions": versions}
        return prepare_round({"PATH": "/bin", "HOME": "/h", ROUND: json.dumps(given)}, 60)

    prepared = of_round(versions)

    kept = [
        {**each, "variables": {
            "TIDEMARK_VERSION": each["version"], "TIDEMARK_PACKAGE": each["package"],
            "PATH": f"/{each['package']}/bin",
        }}
        for each in (versions[0], versions[2])
    ]  # fmt: skip
    assert json.loads(prepared.pop(ROUND)) == {"slices": 4, "versions": kept}
    assert prepared == {"HOME": "/h", **kept[0]["variables"]}
    assert all(0 < timeout <= 60 for timeout in asked)
    assert "[v2] " in capsys.readouterr().out
    with pytest.raises(ConfigurationError, match="No version of the round could be installed"):
        of_round(versions[1:2])
