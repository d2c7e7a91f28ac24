import ast
import re
import subprocess
import sys
from pathlib import Path

from tidemark.model.checkout import ROOT

# The packages of the runtime (boto3 and its dependencies) and of the Powertools layer.
PREINSTALLED = {
    "aws_lambda_powertools",
    "boto3",
    "botocore",
    "dateutil",
    "pydantic",
    "pydantic_core",
}
# Stubs are for the type checker. No function reads YAML or Markdown, which people write. semver
# does without its backend in Rust.
NEVER_IMPORTED = {
    "fast_semver_rs_backend",
    "markdown_it",
    "mypy_boto3_",
    "rich",
    "typing_extensions",
    "yaml",
}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def test_the_functions_have_everything_that_they_import(stack, template):
    assembly = Path(stack.node.root.outdir)
    (code,) = [folder for folder in assembly.glob("asset.*") if (folder / "lambdas").is_dir()]
    packages = {folder.name for folder in code.iterdir()}
    needed = {name.split(".")[0] for path in code.rglob("*.py") for name in imports(path)}

    missing = needed - packages - PREINSTALLED - sys.stdlib_module_names
    assert not [name for name in missing if not name.startswith(tuple(NEVER_IMPORTED))]
    assert {
        "lambdas",
        "aws",
        "tidemark",
        "aws_croniter",
        "packaging",
        "semver",
    } <= needed & packages


def test_the_functions_have_what_draws_flame_graphs(stack, template):
    (library,) = Path(stack.node.root.outdir).glob("asset.*/node_modules/d3-flame-graph/dist/*")
    assert library.read_bytes() == (ROOT.joinpath(*library.parts[-4:])).read_bytes()


def test_make_takes_the_newest_python_of_pyenv_for_the_functions(tmp_path, monkeypatch):
    for variable in ("FUNCTIONS_PYTHON", "MAKEFLAGS", "MAKELEVEL"):
        monkeypatch.delenv(variable, raising=False)

    def taken():
        show = ["make", f"HOME={tmp_path}", "--eval=shown:;@echo $(FUNCTIONS_PYTHON)", "shown"]
        return subprocess.run(show, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    assert taken() == "3.13\n"
    for version in ("3.13.9", "3.13.10"):
        python = tmp_path / ".pyenv" / "versions" / version / "bin" / "python3.13"
        python.parent.mkdir(parents=True)
        python.touch()
    assert taken() == f"{python}\n"


def test_make_systems_tests_the_functions_on_their_python(template):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (version,) = re.findall(r"^FUNCTIONS_PYTHON .*,([\d.]+)\)$", makefile, re.MULTILINE)

    functions = template.find_resources("AWS::Lambda::Function").values()
    assert {function["Properties"]["Runtime"] for function in functions} == {f"python{version}"}
