"""The wheel of ``cwli``: which of Tidemark's modules it has."""

import ast
import sys
import tomllib

import pytest
import yaml

from tidemark.cli.query import command
from tidemark.model.checkout import ROOT

PACKAGE = ROOT / "packages" / "cwli"
PROJECT = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))
INCLUDED = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
ONEBOX = ROOT / "packages" / "onebox"
OURS = ("local", "onebox", "tidemark")


def pins(project):
    return dict(each.split("==") for each in project["project"]["dependencies"])


def modules():
    """Return the paths of the modules in the wheel, relative to the checkout."""
    sources = [(PACKAGE / source).resolve() for source in INCLUDED]
    files = (file for each in sources for file in (each.rglob("*.py") if each.is_dir() else [each]))
    return {file.relative_to(ROOT) for file in files if file.suffix == ".py"}


def imports(module):
    """Yield the names that a module imports when it runs."""
    nodes = [ast.parse((ROOT / module).read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif not (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"):
            nodes += ast.iter_child_nodes(node)


def files_of(name):
    """Return the files of the modules that an import of a name reads."""
    parts = name.split(".")
    top = ONEBOX if parts[0] == "onebox" else ROOT
    places = [top.joinpath(*parts[:length]) for length in range(1, len(parts) + 1)]
    files = (each / "__init__.py" if each.is_dir() else each.with_suffix(".py") for each in places)
    return {file.relative_to(ROOT) for file in files if file.exists()}


def test_the_wheel_has_every_module_that_its_modules_import():
    names = {name for module in modules() for name in imports(module)}
    needed = {file for name in names if name.split(".")[0] in OURS for file in files_of(name)}
    assert needed <= modules()

    others = {name.split(".")[0] for name in names} - {*OURS, *sys.stdlib_module_names}
    assert others == {"_duckdb", "backports", "click", "rich", "stringzilla", "yaml"}


@pytest.mark.parametrize("source", INCLUDED)
def test_a_file_of_the_wheel_has_its_place_in_the_checkout(source):
    file = (PACKAGE / source).resolve()
    place = file.relative_to(ONEBOX if file.is_relative_to(ONEBOX) else ROOT)
    assert file.exists()
    assert INCLUDED[source] in {f"cwli/tree/{place}", f"cwli/{place}"}


def test_the_wheel_needs_the_versions_that_the_tests_have():
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pins(PROJECT).items() <= pins(ours).items()


def test_the_hook_of_pre_commit_runs_the_command_of_the_wheel():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *options = hook["entry"].split()
    assert program in PROJECT["project"]["scripts"]
    assert set(options) <= {name for option in command.params for name in option.opts}
