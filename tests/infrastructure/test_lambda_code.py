import ast
import sys
from pathlib import Path

# What the runtime (boto3 and its dependencies) and the Powertools layer bring.
BROUGHT = {"aws_lambda_powertools", "boto3", "botocore", "dateutil", "pydantic", "pydantic_core"}
# Stubs are for the type checker; only people's files are YAML, and no function reads those.
NEVER_IMPORTED = {"mypy_boto3_", "yaml"}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def test_the_functions_have_everything_that_they_import(stack, template):
    assembly = Path(stack.node.root.outdir)
    (code,) = [folder for folder in assembly.glob("asset.*") if (folder / "lambdas").is_dir()]
    own = {folder.name for folder in code.iterdir()}
    found = {name.split(".")[0] for path in code.rglob("*.py") for name in imported(path)}

    missing = found - own - BROUGHT - sys.stdlib_module_names
    assert not [name for name in missing if not name.startswith(tuple(NEVER_IMPORTED))]
    assert {"lambdas", "pages", "suites", "aws_croniter"} <= found & own
