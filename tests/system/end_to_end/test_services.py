"""A load on a service: the service answers, or ends before its test."""

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml

from onebox.cloud.cgroups import NotWritableError, hierarchy
from tests.system.end_to_end.command_line import tidemark

pytestmark = pytest.mark.systems
SYSTEM = Path(__file__).parent / "system"


def test_a_load_finds_its_service_and_a_service_that_ends_fails_the_test_by_its_last_lines(
    tmp_path,
):
    place = ("--state", str(tmp_path / "state"))
    options = {"env": {**os.environ, "TIDEMARK_SYSTEMS": str(SYSTEM)}}

    done = tidemark("run", "plum", *place, **options)

    sql = "SELECT version, value FROM rates WHERE value IS NOT NULL"
    rates = tidemark("sql", sql, "--format", "json", *place, **options)
    assert json.loads(rates.stdout) == [{"version": "1.0", "value": "7.0"}], done.stdout
    (trial,) = (line for line in done.stdout.splitlines() if line.startswith("trial 2 of 2"))
    assert "failed: answer: service server: its container ended with exit code 3; its last" in trial
    assert trial.endswith(" / ValueError: no plum is left")


def test_a_profiled_trial_has_the_stacks_of_a_python_service_below_its_name(tmp_path):
    systems = shutil.copytree(SYSTEM, tmp_path / "systems")
    suite = systems / "suites" / "plum" / "suite.yaml"
    suite.write_text(f"{suite.read_text()}profiler: py-spy\n")
    place = ("--state", str(tmp_path / "state"))
    options = {"env": {**os.environ, "TIDEMARK_SYSTEMS": str(systems)}}

    done = tidemark("run", "plum", "--versions", "1.0", "--profile", "999", *place, **options)

    sql = "SELECT DISTINCT path FROM profiles WHERE function = '<module> (plum/serve.py)'"
    paths = tidemark("sql", sql, "--format", "json", *place, **options)
    found = [row["path"] for row in json.loads(paths.stdout)]
    assert found, done.stdout
    assert all(path.startswith("service server;") for path in found)


def test_a_service_above_the_memory_of_its_size_fails_its_test_by_name(tmp_path):
    try:
        hierarchy("memory")
    except NotWritableError as error:
        pytest.skip(f"this machine limits nobody's memory: {error}")
    systems = shutil.copytree(SYSTEM, tmp_path / "systems")
    suite, program = systems / "suites/plum/suite.yaml", systems / "workloads/plum/serve.py"
    fields = yaml.safe_load(suite.read_text())
    fields["axes"] = {"size": ["small"]}
    fields["tests"][0]["metrics"][0]["name"] = "plums"
    fields["services"]["server"]["sizes"] = {"small": {"cpu": 256, "memory": 512}}
    suite.write_text(yaml.safe_dump(fields, sort_keys=False))
    program.write_text(program.read_text().replace("os._exit(3)", "bytearray(1 << 30)"))
    options = {"env": {**os.environ, "TIDEMARK_SYSTEMS": str(systems)}}

    done = tidemark("run", "plum", "--versions", "1.1", "--state", str(tmp_path / "s"), **options)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "failed: answer: service server: its memory ran out: OutOfMemoryError: " in done.stdout
