import os
import sys
from pathlib import Path

from tidemark.one_machine.app import workload_environment


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
