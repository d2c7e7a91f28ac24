"""The packages of the workspace, and the libraries whose modules mypy reads."""

import re
import tomllib

import pytest
import yaml

from cwli.command import command
from tidemark.model.checkout import ROOT


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins(project):
    extras = project.get("optional-dependencies", {}).values()
    names = [*project["dependencies"], *(name for extra in extras for name in extra)]
    pinned = (re.sub(r"\[.*\]", "", name) for name in names if "==" in name)
    return {name.replace(".zstd", "-zstd").lower() for name in pinned}


@pytest.mark.parametrize("folder", sorted(ROOT.glob("packages/*")), ids=lambda folder: folder.name)
def test_a_package_needs_the_versions_that_requirements_have(folder):
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    wanted = pins(project(folder))
    assert wanted
    assert {each for each in wanted if f"{each} \\\n" not in pinned} == set()


def test_the_hook_of_pre_commit_runs_the_command_of_cwli():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *options = hook["entry"].split()
    assert program in project(ROOT / "packages" / "cwli")["scripts"]
    assert set(options) <= {name for option in command.params for name in option.opts}


SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
IMPORT = re.compile(r"^\s*(?:from|import) (aws_cdk(?:\.\w+)*)", re.MULTILINE)


@pytest.fixture
def read_by_mypy():
    overrides = SETTINGS["tool"]["mypy"]["overrides"]
    return {
        module
        for override in overrides
        if override.get("follow_imports") == "normal"
        for module in override["module"]
    }


@pytest.mark.parametrize("part", ["cdk", "packages", "tidemark", "tests/checks"])
def test_mypy_reads_each_module_of_the_cdk_that_the_code_imports(part, read_by_mypy):
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / part).rglob("*.py"))

    assert {module for source in sources for module in IMPORT.findall(source)} <= read_by_mypy
