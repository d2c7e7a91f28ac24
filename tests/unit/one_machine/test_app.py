import json
import os
import sys
from pathlib import Path

import pytest

from tidemark.model.checkout import CODE, ROOT
from tidemark.one_machine import app as app_module
from tidemark.one_machine.app import machine_app, workload_environment


def test_a_workload_has_the_settings_of_its_package_index_and_no_package_of_tidemark(monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")

    environment = workload_environment()

    assert "SECRET_OF_THE_HOST" not in environment
    assert environment["HTTPS_PROXY"] == "http://proxy:3128"
    assert environment["PATH"].split(":")[0] == f"{sys.base_prefix}/bin"
    assert os.access(environment["TIDEMARK_UV"], os.X_OK)


def test_the_bytecode_of_a_workload_goes_to_the_cache_and_not_into_the_folder_of_its_user():
    prefix = Path(workload_environment()["PYTHONPYCACHEPREFIX"])

    assert prefix.is_relative_to(Path.home() / ".cache")


@pytest.mark.parametrize(("given", "seconds"), [({}, 20), ({"logsDeadlineSeconds": 600}, 600)])
def test_the_app_of_a_machine_has_no_reports_and_room_for_the_largest_run(given, seconds):
    app = machine_app(given)
    context = json.loads(app.context)

    assert context["logsDeadlineSeconds"] == seconds
    assert (context["policies"], context["reports"], context["privateNetwork"]) == (False,) * 3
    assert [(quota.code, quota.value) for quota in app.quotas] == [("L-3032A538", 200 * 16)]
    assert {ROOT / "queries", ROOT / "cdk", ROOT / "suites", CODE / "aws"} <= {*app.sources}


def test_an_app_without_the_cdk_is_refused_before_a_process_starts(monkeypatch):
    monkeypatch.setattr(app_module, "find_spec", lambda _: None)

    with pytest.raises(ModuleNotFoundError) as missing:
        machine_app()
    assert missing.value.name == "aws_cdk"
