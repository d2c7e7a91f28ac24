"""Deploying the synthesised app into the one-machine cloud, as the CDK CLI would."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from onebox.app import ACCOUNT, REGION, App, DeploymentFailed, Stack
from onebox.cloud.cloud_note import describe
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.sealed_folders import digest, is_sealed, mark_used, seal, source_files

_BOOTSTRAP = "/cdk-bootstrap/hnb659fds/version"
_BOOTSTRAP_VERSION = "30"
_IMAGES = f"cdk-hnb659fds-container-assets-{ACCOUNT}-{REGION}"


def synthesise(state: Path, app: App) -> Path:
    """Return the folder of the app's cloud assembly, made anew if a source has changed.

    A damaged folder is moved aside and made anew, too.
    """
    assembly = state / "assemblies" / _digest(app)
    if not is_sealed(assembly, state):
        unfinished = assembly.with_suffix(f".{os.getpid()}")
        _run(app, unfinished)
        seal(unfinished)
        # If two processes synthesise at once, the second finds the work done.
        if not assembly.exists():
            unfinished.rename(assembly)
        shutil.rmtree(unfinished, ignore_errors=True)
    mark_used(assembly)
    return assembly


def deploy(assembly: Path, endpoint: Endpoint) -> Stack:
    """Upload the assembly's assets and create its stacks; raise DeploymentFailed if that fails.

    Return the last stack, which no other stack needs.
    """
    manifest = json.loads((assembly / "manifest.json").read_text(encoding="utf-8"))
    stacks = {
        name: artifact
        for name, artifact in manifest["artifacts"].items()
        if artifact["type"] == "aws:cloudformation:stack"
    }
    needed = {name: stacks.keys() & artifact["dependencies"] for name, artifact in stacks.items()}
    bootstrap(endpoint)
    *others, last = TopologicalSorter(needed).static_order()
    for name in others:
        _create(name, stacks[name], assembly, endpoint)
    return _create(last, stacks[last], assembly, endpoint)


def _digest(app: App) -> str:
    files = chain.from_iterable(map(source_files, app.sources))
    # A source may be outside the app's folder, so the digest names files from the root folder.
    text = f"{sys.version}\0{app.context}\0{digest(files, Path('/'))}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _run(app: App, outdir: Path) -> None:
    environment = {
        **os.environ,
        "CDK_OUTDIR": str(outdir),
        "CDK_CONTEXT_JSON": app.context,
        # The CDK would validate the templates for seconds, and print what it finds to nobody.
        "CDK_VALIDATION": "false",
        # jsii runs on the Node of the virtual environment, not on an older Node of the machine.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        # Node's small young generation would take a tenth of a synthesis to collect.
        "NODE_OPTIONS": "--max-semi-space-size=64",
    }
    done = subprocess.run(
        app.command,
        cwd=app.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DeploymentFailed(f"the CDK app could not be synthesised: {done.stderr.strip()}")


def bootstrap(endpoint: Endpoint) -> None:
    """Create the resources of ``cdk bootstrap`` that an assembly or the CDK CLI refers to."""
    endpoint.client("ssm").put_parameter(
        Name=_BOOTSTRAP, Value=_BOOTSTRAP_VERSION, Type="String", Overwrite=True
    )
    endpoint.client("s3").create_bucket(Bucket=_assets_bucket())
    endpoint.client("ecr").create_repository(repositoryName=_IMAGES)


def _assets_bucket() -> str:
    return f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"


def upload(assembly: Path, stack: str, endpoint: Endpoint) -> None:
    """Upload the file assets but no images: a container's workload runs as a process here."""
    assets = json.loads((assembly / f"{stack}.assets.json").read_text(encoding="utf-8"))
    for asset in assets["files"].values():
        source = assembly / asset["source"]["path"]
        body = _zipped(source) if asset["source"]["packaging"] == "zip" else source.read_bytes()
        for destination in asset["destinations"].values():
            _put(destination["objectKey"], body, endpoint)


def _put(key: str, body: bytes, endpoint: Endpoint) -> None:
    """Store an asset, unless the same bytes are stored already and are whole."""
    s3 = endpoint.client("s3")
    try:
        stored = s3.get_object(Bucket=_assets_bucket(), Key=key)["Body"].read()
    except ClientError as error:
        if error.response["Error"]["Code"] not in {"NoSuchKey", "DamagedObject"}:
            raise
        stored = None
    if stored == body:
        return
    try:
        s3.put_object(Bucket=_assets_bucket(), Key=key, Body=body)
    except ClientError as error:
        reason = error.response["Error"]["Message"]
        raise DeploymentFailed(f"asset {key} was not stored: {reason}") from None


def _zipped(folder: Path) -> bytes:
    """Return an archive of a folder; equal files make equal archives, whenever they were made."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            member = zipfile.ZipInfo(str(path.relative_to(folder)))
            archive.writestr(member, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _create(name: str, artifact: Mapping[str, Any], assembly: Path, endpoint: Endpoint) -> Stack:
    upload(assembly, name, endpoint)
    properties = artifact["properties"]
    template = (assembly / properties["templateFile"]).read_text(encoding="utf-8")
    cloudformation = endpoint.client("cloudformation")
    try:
        cloudformation.create_stack(
            StackName=name,
            TemplateBody=template,
            Capabilities=["CAPABILITY_IAM"],
            EnableTerminationProtection=properties.get("terminationProtection", False),
        )
    except ClientError as error:
        reason = error.response["Error"]["Message"]
        raise DeploymentFailed(f"stack {name} was not created: {reason}") from None
    if stack := describe(cloudformation, name):
        return stack
    raise DeploymentFailed(f"stack {name} was not created whole")
