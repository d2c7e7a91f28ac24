"""The import path of the workloads, separate programs, as their images have it."""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "workloads"
sys.path.insert(0, str(FOLDER / "harness"))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(monkeypatch, tmp_path):
    """Run in a small folder: a task logs a digest of every file of the folder that it runs in."""
    monkeypatch.chdir(tmp_path)


def _importing(folder, monkeypatch):
    """Yield the function that imports a module of a workload, and forget the modules."""
    monkeypatch.syspath_prepend(folder)
    yield importlib.import_module
    for file in folder.glob("*.py"):
        sys.modules.pop(file.stem, None)


@pytest.fixture
def kiwi_load(monkeypatch):
    """Return the function that imports a module of Kiwi TCMS's load, and forget the modules."""
    yield from _importing(FOLDER / "kiwi_load", monkeypatch)


@pytest.fixture
def kiwi_server(monkeypatch):
    """Return the function that imports a module of Kiwi TCMS's server, and forget the modules."""
    yield from _importing(FOLDER / "kiwi_server", monkeypatch)


@pytest.fixture
def mattermost(monkeypatch):
    """Return the function that imports a module of Mattermost's load, and forget the modules."""
    yield from _importing(FOLDER.parent / "images" / "workloads" / "mattermost", monkeypatch)
