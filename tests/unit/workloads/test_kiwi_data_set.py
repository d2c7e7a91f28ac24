"""The data set of Kiwi TCMS, which a script makes here."""

import importlib
import sys

import pytest
from harness.storage import digest

from tidemark.model.checkout import ROOT

MADE = "import pathlib, os; pathlib.Path(os.environ['KIWI_DB_NAME']).write_text('rows')"


@pytest.fixture
def data_set(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "workloads" / "kiwi_server")
    module = importlib.import_module("data_set")
    recipe = tmp_path / "recipe.py"
    recipe.write_text(MADE)
    monkeypatch.setattr(module, "_RECIPE", recipe)
    yield module
    del sys.modules["data_set"]


@pytest.fixture
def variables(tmp_path):
    return {
        "PYTHONPATH": "harness",
        "TIDEMARK_CACHE": str(tmp_path / "cache"),
        "TIDEMARK_VERSION": "11.7",
    }


@pytest.fixture
def restore(data_set, variables, tmp_path):
    def restore(name):
        folder = tmp_path / name
        folder.mkdir()
        return folder / "kiwi.sqlite", data_set.restore(variables, folder)

    return restore


def test_each_trial_has_a_copy_of_its_own_of_what_was_made_once(restore, tmp_path):
    first, made = restore("first")
    first.write_text("changed by a trial")
    second, again = restore("second")

    assert second.read_text() == "rows"
    assert made == again == digest(second)
    assert [path.name[:17] for path in (tmp_path / "cache").iterdir()] == ["kiwi-11.7-sqlite_"]


def test_another_recipe_makes_another_data_set(restore, data_set, tmp_path):
    restore("first")
    data_set._RECIPE.write_text(MADE.replace("rows", "other rows"))

    second, _ = restore("second")

    assert second.read_text() == "other rows"
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_data_set_that_cannot_be_made_leaves_nothing(restore, data_set, tmp_path):
    data_set._RECIPE.write_text(f"{MADE}; raise SystemExit(3)")

    with pytest.raises(data_set.subprocess.CalledProcessError, match="exit status 3"):
        restore("first")
    assert list((tmp_path / "cache").iterdir()) == []
