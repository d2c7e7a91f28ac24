"""The code asset that all functions share: pure Python, suites and queries."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import aws_croniter  # type: ignore[import-untyped]
import jsii
import packaging.version
import semver
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk.aws_lambda import Code

from tidemark.model.checkout import CODE, ROOT
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import pack_suite
from tidemark.pages.shell import LIBRARIES, MODULES

_IGNORE = shutil.ignore_patterns("__pycache__", "pictures.py", "client")
# The packages of the functions, without the command line, its client and the dashboard.
_PACKAGES = ("figures", "model", "money", "pages", "report", "run", "store")


@jsii.implements(ILocalBundling)
class _Copy:
    """A copy of the packages and their data: the checked suites and queries.

    The runtime provides boto3 and its dependencies, and the layer provides Powertools and pydantic.
    All other imports are pure Python and are copied.
    """

    def __init__(self, suites: Mapping[str, Suite], systems: Path) -> None:
        self._suites, self._systems = suites, systems

    def try_bundle(self, output_dir: str, *, image: object, **_: object) -> bool:
        out = Path(output_dir)
        for package in ("aws", *(f"tidemark/{part}" for part in _PACKAGES)):
            shutil.copytree(CODE / package, out / package, ignore=_IGNORE)
        shutil.copy(CODE / "tidemark" / "__init__.py", out / "tidemark")
        for part in ("lambdas", "queries/logs"):
            shutil.copytree(ROOT / part, out / part, ignore=_IGNORE)
        for library in (aws_croniter, semver):
            folder = Path(str(library.__file__)).parent
            shutil.copytree(folder, out / folder.name, ignore=_IGNORE)
        # The rest of packaging, which no function imports, is nine tenths of it.
        (out / "packaging").mkdir()
        for module in (packaging, packaging.version):
            shutil.copy(str(module.__file__), out / "packaging")
        for suite in self._suites.values():
            pack_suite(suite, self._systems, out)
        _copy_libraries(out)
        return True


def _copy_libraries(out: Path) -> None:
    """Copy the library of flame graphs, if npm installed it: reports have none without it."""
    for name in LIBRARIES:
        library, copy = (folder / MODULES / name for folder in (ROOT, out))
        if library.is_file():
            copy.parent.mkdir(parents=True)
            shutil.copy(library, copy)


def lambda_code(suites: Mapping[str, Suite], systems: Path) -> Code:
    """Return the asset, bundled without Docker; its hash is the hash of its files.

    ``systems`` is the folder that the suites were read from.
    """
    bundling = BundlingOptions(
        # CDK requires an image, but never uses it: the local bundling never declines.
        image=DockerImage.from_registry("scratch"),
        local=_Copy(suites, systems),
    )
    return Code.from_asset(
        str(ROOT / "lambdas"), bundling=bundling, asset_hash_type=AssetHashType.OUTPUT
    )
