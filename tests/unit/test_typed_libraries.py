"""Libraries whose modules mypy reads only if the code imports them."""

import re
import tomllib

import pytest

from tidemark.model.checkout import ROOT

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


@pytest.mark.parametrize("part", ["cdk", "local", "packages", "tidemark", "tests/checks"])
def test_mypy_reads_each_module_of_the_cdk_that_the_code_imports(part, read_by_mypy):
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / part).rglob("*.py"))

    assert {module for source in sources for module in IMPORT.findall(source)} <= read_by_mypy
