"""Preparation, with a uv that is a shell script."""

import os
import platform
import re
import subprocess
import sys

import pytest
from rocksdb_workload import preparation
from rocksdb_workload.configuration import ConfigurationError
from rocksdb_workload.preparation import BOTO3, prepare

from tidemark.model.checkout import ROOT

PACKAGE = "rocksdict==0.3.23"

# "venv" makes a folder with an interpreter at its last argument; a file records every call.
MAKES = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
if [ "$1" = pip ]; then cat > "$(dirname "$0")/given"; fi
if [ "$1" = venv ]; then
    for target; do :; done
    mkdir -p "$target/bin" && touch "$target/bin/python"
fi
"""
REFUSES = """#!/bin/sh
if [ "$1" = venv ]; then exit 0; fi
printf '  × No solution found:\\n  ╰─▶ Because there is no version of rocksdict==0.3.23\\n' >&2
exit 1
"""
HANGS = """#!/bin/sh
exec sleep 60
"""


@pytest.fixture
def uv(tmp_path):
    def make(script):
        program = tmp_path / "uv"
        program.write_text(script)
        program.chmod(0o755)
        return {"TIDEMARK_UV": str(program), "TIDEMARK_CACHE": str(tmp_path / "cache")}

    return make


def test_the_environment_is_made_with_exactly_the_package_and_boto3(uv, tmp_path):
    python = prepare(PACKAGE, uv(MAKES), timeout=60)

    assert python.exists()
    venv, install = (tmp_path / "calls").read_text().splitlines()
    assert venv.startswith("venv --quiet --python ")
    assert install.startswith("pip install --quiet --only-binary :all: --python ")
    assert re.search(
        r" --offline --require-hashes --requirement \S+/boto3.txt --requirement -$", install
    )
    package, *hashes = (tmp_path / "given").read_text().split(" \\\n    ")
    assert package == PACKAGE
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes)


def test_a_package_without_pinned_hashes_is_refused(uv, tmp_path):
    with pytest.raises(ConfigurationError) as refusal:
        prepare("rocksdict==0.3.1", uv(MAKES), timeout=60)

    assert str(refusal.value) == (
        "TIDEMARK_PACKAGE is 'rocksdict==0.3.1': "
        "a release with hashes in rocksdict.txt is accepted."
    )
    assert not (tmp_path / "calls").exists()


def test_a_package_that_is_not_cached_comes_from_the_package_index(uv, tmp_path):
    nothing_cached = 'case "$*" in *--offline*) exit 1;; esac\n'

    assert prepare(PACKAGE, uv(MAKES + nothing_cached), timeout=60).exists()
    *_, cached, fetched = (tmp_path / "calls").read_text().splitlines()
    assert cached.replace(" --offline", "") == fetched


def test_the_name_of_an_environment_lists_its_contents(uv):
    python = prepare(PACKAGE, uv(MAKES), timeout=60)

    assert python.parents[1].name == f"{PACKAGE}_{BOTO3}_python{platform.python_version()}"


def test_the_environment_is_made_once(uv, tmp_path):
    variables = uv(MAKES)
    first = prepare(PACKAGE, variables, timeout=60)
    (tmp_path / "calls").unlink()

    assert prepare(PACKAGE, variables, timeout=60) == first
    assert not (tmp_path / "calls").exists()


def test_an_environment_that_another_task_made_first_is_used(uv, tmp_path):
    environment = f"{PACKAGE}_{BOTO3}_python{platform.python_version()}"
    # The other task's environment appears while this task makes its own.
    other = f'mkdir -p "$(dirname "$0")/cache/{environment}/bin/other"'

    python = prepare(PACKAGE, uv(MAKES + other), timeout=60)

    assert (python.parent / "other").exists()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [environment]


def test_a_package_that_uv_refuses_is_named_with_its_reason(uv, tmp_path):
    with pytest.raises(ConfigurationError) as refusal:
        prepare(PACKAGE, uv(REFUSES), timeout=60)

    assert str(refusal.value) == (
        "TIDEMARK_PACKAGE is 'rocksdict==0.3.23', which uv could not install: "
        "No solution found: Because there is no version of rocksdict==0.3.23"
    )
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_missing_uv_is_named(tmp_path):
    variables = {"TIDEMARK_UV": "/nowhere/uv", "TIDEMARK_CACHE": str(tmp_path)}

    with pytest.raises(ConfigurationError, match=r"^TIDEMARK_UV is '/nowhere/uv'"):
        prepare(PACKAGE, variables, timeout=60)


def test_a_uv_that_hangs_is_ended(uv):
    with pytest.raises(subprocess.TimeoutExpired):
        prepare(PACKAGE, uv(HANGS), timeout=0.1)


def prepare_ahead(variables):
    done = subprocess.run(
        [sys.executable, "prepare.py", PACKAGE],
        cwd=ROOT / "workloads" / "rocksdb",
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_an_environment_can_be_made_ahead_of_a_task(uv):
    variables = uv(MAKES)

    assert prepare_ahead(variables) == (0, "")
    assert prepare(PACKAGE, variables | {"TIDEMARK_UV": "/nowhere/uv"}, timeout=60).exists()


def test_a_failure_ahead_of_a_task_is_one_sentence(uv):
    code, output = prepare_ahead(uv(REFUSES))

    assert code == 2
    assert output.startswith("TIDEMARK_PACKAGE is 'rocksdict==0.3.23', which uv could not install")


def test_a_cache_that_cannot_be_written_is_named(uv):
    code, output = prepare_ahead(uv(MAKES) | {"TIDEMARK_CACHE": "/proc/cache"})

    assert code == 2
    assert output == f"{PACKAGE} cannot be kept in /proc/cache: No such file or directory.\n"


def test_the_time_limit_holds_for_all_calls_of_uv_together(uv, monkeypatch):
    now = iter([0.0, 0.0, 50.0])  # the limit begins; "venv" takes 50 s; "pip install" begins
    limits = []

    def run(_, timeout, **more):
        limits.append(timeout)
        return subprocess.CompletedProcess([], 0) if len(limits) == 1 else hang(timeout)

    def hang(timeout):
        raise subprocess.TimeoutExpired("uv", timeout)

    monkeypatch.setattr(preparation.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(preparation.subprocess, "run", run)

    with pytest.raises(subprocess.TimeoutExpired):
        prepare(PACKAGE, uv(MAKES), timeout=60)
    assert limits == [60.0, 10.0]
