"""The packages of the workspace beside the main one."""

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
