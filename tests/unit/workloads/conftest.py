"""The import path of the workloads, separate programs, as their images have it."""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "workloads"
sys.path.insert(0, str(FOLDER / "harness"))


@pytest.fixture
def kiwi_load(monkeypatch):
    """Return the function that imports a module of Kiwi TCMS's load, and forget the modules."""
    monkeypatch.syspath_prepend(FOLDER / "kiwi_load")
    yield importlib.import_module
    for file in (FOLDER / "kiwi_load").glob("*.py"):
        sys.modules.pop(file.stem, None)
