"""The data sets of Kiwi TCMS, which a script makes here."""

import inspect
import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace

import pytest

MADE = "import pathlib; pathlib.Path('kiwi.sqlite').write_text('rows')"


@pytest.fixture
def data_set(kiwi_server, monkeypatch, tmp_path):
    module = kiwi_server("database")
    recipe = tmp_path / "recipe.py"
    recipe.write_text(MADE)
    monkeypatch.setattr(module, "_RECIPE", recipe)
    return module


@pytest.fixture
def variables(tmp_path):
    return {
        "PYTHONPATH": "harness",
        "TIDEMARK_CACHE": str(tmp_path / "cache"),
        "TIDEMARK_DATABASE": "sqlite",
        "TIDEMARK_VERSION": "11.7",
    }


@pytest.fixture
def restore(data_set, variables, tmp_path):
    def restore(name):
        folder = tmp_path / name
        folder.mkdir()
        return folder / "kiwi.sqlite", data_set.restore(variables, "127.0.0.1", folder)

    return restore


def test_each_trial_has_a_copy_of_its_own_of_what_was_made_once(restore, tmp_path):
    first, made = restore("first")
    first.write_text("changed by a trial")
    second, again = restore("second")

    assert second.read_text() == "rows"
    assert made == again
    assert [path.name[:17] for path in (tmp_path / "cache").iterdir()] == ["kiwi-11.7-sqlite_"]


def test_another_recipe_makes_another_data_set(restore, data_set, tmp_path):
    _, first = restore("first")
    data_set._RECIPE.write_text(MADE.replace("rows", "other rows"))

    second, other = restore("second")

    assert second.read_text() == "other rows"
    assert first != other
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_each_database_has_its_own_name_and_program(data_set):
    contents = [data_set._content(name) for name in ("sqlite", "postgresql", "mariadb")]

    assert len(set(contents)) == 3
    assert b"CREATE ROLE kiwi" in contents[1]
    assert b"CREATE USER kiwi" in contents[2]


def test_a_data_set_that_cannot_be_made_leaves_nothing(restore, data_set, tmp_path):
    data_set._RECIPE.write_text(f"{MADE}; raise SystemExit(3)")

    with pytest.raises(data_set.subprocess.CalledProcessError, match="exit status 3"):
        restore("first")
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_programs_have_kiwis_own_settings_and_what_they_lack_but_mail_goes_nowhere(
    data_set, variables, monkeypatch
):
    own, calls = ModuleType("product"), []
    own.DEBUG, own.EMAIL_BACKEND = False, "smtp"
    for name in ("tcms", "tcms.settings", "tcms.settings.product"):
        monkeypatch.setitem(sys.modules, name, own)
    mysql = SimpleNamespace(install_as_MySQLdb=lambda: calls.append("MySQLdb"))
    monkeypatch.setitem(sys.modules, "pymysql", mysql)
    monkeypatch.setattr(inspect, "getargspec", None, raising=False)

    found = data_set.variables_of(variables, data_set.database_of("sqlite"), "127.0.0.1")
    settings = import_module(found["DJANGO_SETTINGS_MODULE"])

    assert settings.DEBUG is False
    assert settings.EMAIL_BACKEND == "django.core.mail.backends.dummy.EmailBackend"
    assert (calls, inspect.getargspec) == (["MySQLdb"], inspect.getfullargspec)
