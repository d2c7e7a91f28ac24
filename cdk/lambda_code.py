"""The code asset that all functions share: pure Python, queries, and what a report's page shows."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import aws_croniter  # type: ignore[import-untyped]
import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk.aws_lambda import Code

from cdk.vega import vega
from suites.files import ROOT
from suites.model import Suite

_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.yaml")


@jsii.implements(ILocalBundling)
class _Copy:
    """Copies the packages and packs what they read: the suites, as they were checked, and Vega.

    Of what they import, the runtime has boto3 and its dependencies, the layer Powertools and
    pydantic; the rest is pure Python and goes along.
    """

    def __init__(self, suites: Mapping[str, Suite]) -> None:
        self._suites = suites

    def try_bundle(self, output_dir: str, *, image: object, **_: object) -> bool:
        out = Path(output_dir)
        for package in ("lambdas", "pages", "suites", "queries"):
            shutil.copytree(ROOT / package, out / package, ignore=_LEFT_OUT)
        shutil.copytree(Path(aws_croniter.__file__).parent, out / "aws_croniter", ignore=_LEFT_OUT)
        for name, suite in self._suites.items():
            (out / "suites" / f"{name}.json").write_text(suite.model_dump_json(), encoding="utf-8")
        (out / "lambdas" / "report" / "vega.js").write_text(vega(), encoding="utf-8")
        return True


def lambda_code(suites: Mapping[str, Suite]) -> Code:
    """Return the asset; its hash is that of the files it holds. Needs no Docker."""
    bundling = BundlingOptions(
        # Asked for by CDK, used by no one: the local bundling never declines.
        image=DockerImage.from_registry("scratch"),
        local=_Copy(suites),
    )
    return Code.from_asset(
        str(ROOT / "lambdas"), bundling=bundling, asset_hash_type=AssetHashType.OUTPUT
    )
